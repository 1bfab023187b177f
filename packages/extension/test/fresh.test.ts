/** Tabs that were opened for agents are asked about until the daemon knows them. */

import { beforeEach, expect, test } from 'vitest';
import { Fresh } from '../src/fresh.js';

let stored: Record<string, unknown>;

beforeEach(() => {
  stored = {};
  const session = { get: async () => structuredClone(stored), set: async (more: object) => void Object.assign(stored, structuredClone(more)) };
  Object.assign(globalThis, { chrome: { storage: { session } } });
});

test('a tab that the daemon does not know yet is asked about on the next connection, also by another worker', async () => {
  const fresh = new Fresh();
  await Promise.all([fresh.opened(1), fresh.opened(2), fresh.opened(3)]);
  await fresh.known(1);
  expect(await fresh.left()).toEqual([]);
  fresh.begin();
  expect(await fresh.left()).toEqual([2, 3]);
  const next = new Fresh();
  await Promise.all([next.opened(4), next.known(2)]);
  expect(await next.left()).toEqual([3]);
  await Promise.all([next.known(3), next.known(4)]);
  expect(stored).toEqual({ fresh: {} });
});

test('one that was opened long ago is left alone', async () => {
  stored = { fresh: { 3: Date.now() - 3_600_000 } };
  expect(await new Fresh().left()).toEqual([]);
  expect(stored).toEqual({ fresh: {} });
});
