/** The connection to the daemon: whom the extension believes, and how it comes back. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Link } from '../src/link.js';
import type { ToExtension } from '../src/messages.js';
import { takeName } from '../src/pairing.js';
import { FakeDaemon, installChrome, SECRET } from './fake-chrome.js';

let daemon: FakeDaemon;
let titles: string[];
let heard: ToExtension[];
let lost: number;
let welcomes: number;
let link: Link;
let found: { name: string | null };
let ready: Promise<void>;

beforeEach(async () => {
  Object.assign(globalThis, { WebSocket });
  installChrome();
  daemon = await FakeDaemon.start();
  [titles, heard, lost, welcomes, ready] = [[], [], 0, 0, Promise.resolve()];
  found = { name: 'Work' };
  // A link of an earlier test goes on looking for its own daemon, and finds none.
  const [{ port }, mine, said, folder] = [daemon, heard, titles, found];
  link = new Link({
    pairing: async () => ({ secret: SECRET, port, ...folder }),
    show: (state) => said.push(state),
    welcome: async () => {
      welcomes += 1;
      await ready;
    },
    hear: async (message) => void mine.push(message),
    lost: async () => void (lost += 1),
    alone: () => undefined,
  });
});

afterEach(async () => {
  vi.useRealTimers();
  await daemon.stop();
});

// Spec: dynamic-tools 62, 63, 66, 96.
test('it proves itself, then says something every 20 s', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  link.keep();
  link.keep();
  await daemon.welcome();
  daemon.say({ type: 'connect' });
  await vi.waitFor(() => expect(heard).toEqual([{ type: 'connect' }]));
  expect([daemon.connections, welcomes]).toEqual([1, 1]);
  vi.advanceTimersByTime(20_000);
  expect(await daemon.take('ping')).toEqual({ type: 'ping' });
  daemon.say({ type: 'ping' });
  expect(await daemon.take('pong')).toEqual({ type: 'pong' });
  expect(titles.at(-1)).toBe('connected');
});

// Spec: security 7.
test('a program that took the port and has no secret hears nothing but hello', async () => {
  link.keep();
  const { nonce } = await daemon.take('hello');
  const ours = 'cd'.repeat(32);
  // It may order what it likes before and after its proof.
  daemon.say({ type: 'openTab', requestId: 1, url: 'https://bank.example/', focus: true });
  daemon.say({ type: 'welcome' });
  daemon.say({ type: 'challenge', version: 1, nonce: ours, proof: daemon.prove('daemon', nonce, ours, 'ef'.repeat(32)) });
  await vi.waitFor(() => expect(titles.at(-1)).toContain('Another program listens'));
  expect([heard, welcomes, daemon.heard.filter(({ type }) => type !== 'hello')]).toEqual([[], 0, []]);
});

// Spec: security 7.
test('a proof of another role or of an earlier connection does not do', async () => {
  link.keep();
  const first = await daemon.take('hello');
  const ours = 'cd'.repeat(32);
  daemon.say({ type: 'challenge', version: 1, nonce: ours, proof: daemon.prove('extension', first.nonce, ours) });
  const second = await daemon.take('hello');
  expect(second.nonce).not.toBe(first.nonce);
  expect(second.instance).toBe(first.instance);
  daemon.say({ type: 'challenge', version: 1, nonce: ours, proof: daemon.prove('daemon', first.nonce, ours) });
  await daemon.take('hello');
  expect([heard, welcomes]).toEqual([[], 0]);
});

// Spec: security 7.
test('what was proved on a connection that ended while the extension made itself ready counts for no other', async () => {
  let makeReady = (): void => undefined;
  ready = new Promise((resolve) => (makeReady = resolve));
  link.keep();
  await daemon.welcome();
  await vi.waitFor(() => expect(welcomes).toBe(1));
  daemon.hangUp();
  // Another program has the port now.
  const { nonce } = await daemon.take('hello');
  makeReady();
  await ready;
  await new Promise((resolve) => setImmediate(resolve));
  expect([link.isWelcome, link.tell({ type: 'ping' }), titles.includes('connected')]).toEqual([false, false, false]);
  daemon.say({ type: 'openTab', requestId: 1, url: 'https://bank.example/', focus: true });
  // It is still asked for its own proof, and that is looked at after the order.
  const ours = 'cd'.repeat(32);
  daemon.say({ type: 'challenge', version: 1, nonce: ours, proof: daemon.prove('daemon', nonce, ours) });
  await daemon.take('proof');
  expect(heard).toEqual([]);
});

test('a daemon that says nothing for 60 s is given up, and another one is looked for', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  link.keep();
  await daemon.welcome();
  await vi.waitFor(() => expect(welcomes).toBe(1));
  vi.advanceTimersByTime(59_000);
  expect([lost, link.isWelcome]).toEqual([0, true]);
  vi.advanceTimersByTime(21_000);
  expect([lost, link.isWelcome]).toEqual([1, false]);
  expect(titles.at(-1)).toBe('The daemon stopped responding.');
  await daemon.take('hello');
});

test('it comes back after the daemon is gone, and says why it was refused', async () => {
  link.keep();
  await daemon.welcome();
  await vi.waitFor(() => expect(welcomes).toBe(1));
  daemon.hangUp();
  await daemon.take('hello');
  expect(lost).toBe(1);
  daemon.say({ type: 'refused', reason: 'Not today.' });
  daemon.hangUp();
  await daemon.welcome();
  await vi.waitFor(() => expect(welcomes).toBe(2));
  expect(titles).toContain('Not today.');
});

test('a profile keeps the name that it found first, until the person loads the extension again', async () => {
  link.keep();
  expect((await daemon.take('hello')).name).toBe('Work');
  found.name = 'Home';
  daemon.hangUp();
  expect((await daemon.take('hello')).name).toBe('Work');
  // An update comes to all profiles; a reload is for this one.
  expect(await takeName('Home', { reason: 'update', previousVersion: '0.9' })).toBe(false);
  expect(await takeName('Home', { reason: 'update', previousVersion: '1.0' })).toBe(true);
  expect(await takeName('Home', { reason: 'update', previousVersion: '1.0' })).toBe(false);
  link.greetAgain();
  expect((await daemon.take('hello')).name).toBe('Home');
});

test('the daemon is told which version of the extension runs', async () => {
  link.keep();
  expect((await daemon.take('hello')).extensionVersion).toBe('1.0');
});

test('a profile without a name keeps having none', async () => {
  found.name = null;
  link.keep();
  expect((await daemon.take('hello')).name).toBeUndefined();
  found.name = 'Work';
  daemon.hangUp();
  expect((await daemon.take('hello')).name).toBeUndefined();
});
