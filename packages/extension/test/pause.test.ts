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
  await before.wanted();
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

test('a pause of another browser is not brought back by one that was away when it ended', async () => {
  const pause = new Pause();
  await pause.begin();
  await pause.told(true);
  // Chrome ends the worker, and the other browser lets agents go on.
  const later = new Pause();
  await later.begin();
  expect([stored, later.isOwed]).toEqual([{}, false]);
});

test('a pause that the daemon has not heard of is not lost', async () => {
  const pause = new Pause();
  await pause.begin();
  void pause.wanted();
  // What was on its way before it says nothing about it.
  await pause.told(false);
  const later = new Pause();
  await later.begin();
  expect([stored, later.isOwed]).toEqual([{ paused: true }, true]);
});

test('the person ends it, also while the daemon has not heard of it', async () => {
  stored = { paused: true };
  const pause = new Pause();
  await pause.begin();
  await pause.over();
  expect([stored, pause.isOwed]).toEqual([{ paused: false }, false]);
});
