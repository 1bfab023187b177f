/** Tabs that nobody knows of any more are closed, and no others. */

import { beforeEach, expect, test } from 'vitest';
import { Fresh } from '../src/fresh.js';

let stored: Record<string, unknown>;
let closed: number[];

beforeEach(() => {
  [stored, closed] = [{}, []];
  const session = { get: async () => structuredClone(stored), set: async (more: object) => void Object.assign(stored, structuredClone(more)) };
  Object.assign(globalThis, { chrome: { storage: { session }, tabs: { remove: async (id: number) => void closed.push(id) } } });
});

test('a tab that the daemon never told of is closed when another connection begins, also by another worker', async () => {
  const fresh = new Fresh();
  await Promise.all([fresh.opened(1), fresh.opened(2)]);
  const tabs = [{ tabId: 1, own: true }, { tabId: 2, own: true, opening: true }];
  await fresh.known([{ session: 's', name: 'A', colour: 'blue', tabs }] as never);
  await new Fresh().discard();
  expect(closed).toEqual([2]);
  await new Fresh().discard();
  expect(closed).toEqual([2]);
});

test('one that was opened long ago is left alone', async () => {
  stored = { fresh: { 3: Date.now() - 60_000 } };
  await new Fresh().discard();
  expect([closed, stored]).toEqual([[], { fresh: {} }]);
});
