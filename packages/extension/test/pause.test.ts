/** A pause is not lost, whatever a new daemon says before it hears of it. */

import { beforeEach, expect, test } from 'vitest';
import { Pause } from '../src/pause.js';

let stored: Record<string, unknown>;

beforeEach(() => {
  stored = {};
  const session = { get: async () => structuredClone(stored), set: async (more: object) => void Object.assign(stored, structuredClone(more)) };
  Object.assign(globalThis, { chrome: { storage: { session } } });
});

test('a daemon that does not know of a pause does not end it', async () => {
  const before = new Pause();
  await before.begin();
  expect(before.isOwed).toBe(false);
  await before.told(true);
  const pause = new Pause();
  await pause.begin();
  expect(pause.isOwed).toBe(true);
  await pause.told(false);
  expect([stored, pause.isOwed]).toEqual([{ paused: true }, true]);
  // It has heard of it now, and what it says from here on holds.
  await pause.told(true);
  expect(pause.isOwed).toBe(false);
  await pause.told(false);
  expect(stored).toEqual({ paused: false });
});

test('the person ends it, also while the daemon has not heard of it', async () => {
  stored = { paused: true };
  const pause = new Pause();
  await pause.begin();
  await pause.over();
  expect([stored, pause.isOwed]).toEqual([{ paused: false }, false]);
});
