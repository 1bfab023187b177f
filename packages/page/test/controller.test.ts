/** The worker's controller with made-up pages and a made-up daemon, in a time that we move. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SILENCE, type ToWorker } from '../src/messages.js';
import type { JsonObject } from '../src/json.js';
import { examples } from './support/contract.js';
import { world } from './support/worker-world.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// Spec: multi-tab 4, 11, 56; page-proxy 13.
test('the daemon is notified of tabs and of the tools of each', () => {
  const { socket, page } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  a.offer('one');
  b.offer('one', 'two');
  expect(socket().heard('REGISTER_TAB').map(tabOf)).toEqual(['tab-a', 'tab-b']);
  expect(
    socket()
      .heard('REGISTER_TOOL')
      .map((tool) => [tabOf(tool), tool['name']]),
  ).toEqual([
    ['tab-a', 'one'],
    ['tab-b', 'one'],
    ['tab-b', 'two'],
  ]);
  a.say({ type: 'UNREGISTER_TOOL', tabId: 'tab-a', name: 'one', requestId: 9 });
  expect(socket().heard('UNREGISTER_TOOL')).toEqual([{ type: 'UNREGISTER_TOOL', tabId: 'tab-a', name: 'one' }]);
  expect(a.last()).toEqual({ type: 'DONE', requestId: 9 });
});

// Spec: page-proxy 2, 5, 6, 7, 14, 17, 19, 20, 22.
test('a call goes to one page, and its answer to the daemon', () => {
  const { socket, page } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  a.offer('one');
  b.offer('one');
  socket().call('7', 'tab-b', 'one', { x: 1 });
  const call = b.call();
  expect(call).toMatchObject({ type: 'CALL_TOOL', targetTabId: 'tab-b', toolName: 'one', args: { x: 1 } });
  expect(a.heard.some((message) => message.type === 'CALL_TOOL')).toBe(false);
  // Only the page that was asked may answer, and only once.
  const answer: ToWorker = { type: 'TOOL_CALL_RESULT', callId: call.callId, success: true, result: { content: [] } };
  a.say(answer);
  expect(socket().heard('TOOL_CALL_RESULT')).toEqual([]);
  b.say(answer);
  b.say(answer);
  expect(socket().heard('TOOL_CALL_RESULT')).toEqual([{ ...answer, callId: '7' }]);
});

// Spec: page-proxy 12.
test('what a page answers about a failure is passed on', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  socket().call('7', 'tab-a', 'one');
  a.say({ type: 'TOOL_CALL_RESULT', callId: a.call().callId, success: false, error: 'no such user', code: 'failed' });
  expect(socket().last()).toEqual({ type: 'TOOL_CALL_RESULT', callId: '7', success: false, error: 'no such user', code: 'failed' });
});

// Spec: page-proxy 39.
test('a call that has no target is refused with a sentence, and nobody runs it', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  socket().call('1', 'tab-x', 'one');
  socket().call('2', 'tab-a', 'two');
  socket().say({ type: 'CALL_TOOL', callId: '3', targetTabId: 'tab-a', documentId: 'an older document', toolName: 'one', args: {} });
  expect(
    socket()
      .heard('TOOL_CALL_RESULT')
      .map(({ callId, success, code }) => [callId, success, code]),
  ).toEqual([
    ['1', false, 'no_tab'],
    ['2', false, 'no_tool'],
    ['3', false, 'no_tool'],
  ]);
  expect(a.heard.some((message) => message.type === 'CALL_TOOL')).toBe(false);
});

test('a page that wants another daemon takes all with it, and none hears what another asked', () => {
  const { sockets, page } = world();
  const a = page('tab-a');
  const [first] = sockets;
  first?.welcome();
  a.offer('one');
  first?.call('1', 'tab-a', 'one');
  const [{ callId }, before] = [a.call(), a.heard.length];
  page('tab-b', 'ws://another/page');
  expect(a.heard.slice(before)).toContainEqual({ type: 'CANCEL_CALL', callId });
  const [, second] = sockets;
  second?.welcome();
  second?.call('1', 'tab-a', 'one');
  a.say({ type: 'TOOL_CALL_RESULT', callId, success: true, result: { content: [] } });
  expect(second?.heard('TOOL_CALL_RESULT')).toEqual([]);
  a.say({ type: 'TOOL_CALL_RESULT', callId: a.call().callId, success: true, result: { content: [] } });
  expect(second?.heard('TOOL_CALL_RESULT')).toHaveLength(1);
});

test('calls have a limit, and the one above it is told so', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  for (let n = 0; n <= 256; n += 1) socket().call(String(n), 'tab-a', 'one');
  expect(a.heard.filter((message) => message.type === 'CALL_TOOL')).toHaveLength(256);
  expect(socket().last()).toMatchObject({ callId: '256', success: false, code: 'busy' });
});

// Spec: page-proxy 22.
test('a call that arrives twice runs once', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  socket().call('7', 'tab-a', 'one');
  socket().call('7', 'tab-a', 'one');
  expect(a.heard.filter((message) => message.type === 'CALL_TOOL')).toHaveLength(1);
});

test('a cancelled call is answered at once, and what its handler answers later is dropped', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  socket().call('7', 'tab-a', 'one');
  const { callId } = a.call();
  socket().say({ type: 'CANCEL_CALL', callId: '7' });
  expect(a.last()).toEqual({ type: 'CANCEL_CALL', callId });
  a.say({ type: 'TOOL_CALL_RESULT', callId, success: true, result: { content: [] } });
  expect(socket().heard('TOOL_CALL_RESULT')).toMatchObject([{ callId: '7', success: false, code: 'cancelled' }]);
});

// Spec: multi-tab 10.
test('a page that leaves takes its tab, its tools and its calls with it', () => {
  const { socket, page, controller } = world();
  const [a] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  a.offer('one');
  a.say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-a', isActive: true });
  socket().call('7', 'tab-a', 'one');
  a.say({ type: 'TOOL_CALL_BEGUN', callId: a.call().callId });
  a.say({ type: 'UNREGISTER_TAB' });
  expect(controller.tabs.map((tab) => tab.tabId)).toEqual(['tab-b']);
  expect(socket().messages.slice(-3)).toMatchObject([
    { type: 'TOOL_CALL_RESULT', callId: '7', success: false, code: 'gone' },
    { type: 'SET_ACTIVE_TAB', tabId: null },
    { type: 'UNREGISTER_TAB', tabId: 'tab-a' },
  ]);
});

// Spec: multi-tab 23.
test('a call that a page had not begun when it left is not answered, so that the daemon can send it elsewhere', () => {
  const { socket, page } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  a.offer('one');
  socket().call('7', 'tab-a', 'one');
  // Nobody else can say that it has begun.
  b.say({ type: 'TOOL_CALL_BEGUN', callId: a.call().callId });
  a.say({ type: 'UNREGISTER_TAB' });
  expect(socket().heard('TOOL_CALL_RESULT')).toEqual([]);
  expect(socket().last()).toMatchObject({ type: 'UNREGISTER_TAB', tabId: 'tab-a' });
});

// Spec: multi-tab 10.
test('a document whose lock is free is gone, whatever became of it', async () => {
  const { socket, page, controller, freeLock } = world();
  page('tab-a');
  page('tab-b');
  socket().welcome();
  freeLock('lock of tab-a');
  await Promise.resolve();
  // Its last words may be on their way.
  expect(controller.tabs.map((tab) => tab.tabId)).toEqual(['tab-a', 'tab-b']);
  vi.advanceTimersByTime(100);
  expect(controller.tabs.map((tab) => tab.tabId)).toEqual(['tab-b']);
  expect(socket().last()).toEqual({ type: 'UNREGISTER_TAB', tabId: 'tab-a' });
});

// Spec: multi-tab 10.
test('where there are no locks, a tab that is silent for long is gone, and comes back when it speaks', () => {
  const { socket, page, controller } = world({ hasLocks: false });
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  vi.advanceTimersByTime(SILENCE - 1);
  b.say({ type: 'PING' });
  vi.advanceTimersByTime(1);
  expect(controller.tabs.map((tab) => tab.tabId)).toEqual(['tab-b']);
  a.say({ type: 'PING' });
  expect(a.last()).toEqual({ type: 'TAB_UNKNOWN' });
});

// Spec: multi-tab 6, 26, 57, 78; page-proxy 26.
test('the active tab follows the user, and is none when it is hidden', () => {
  const { socket, page, controller } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  const active = (): unknown[] => controller.tabs.filter((tab) => tab.isActive).map((tab) => tab.tabId);
  controller.handleSetActiveTab({ tabId: 'tab-a' });
  expect(active()).toEqual(['tab-a']);
  b.say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-b', isActive: true });
  // The other tab learns only now that it is hidden, and this changes nothing.
  a.say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-a', isActive: false });
  expect(active()).toEqual(['tab-b']);
  expect(a.last()).toEqual({ type: 'ACTIVE_TAB', tabId: 'tab-b' });
  b.say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-b', isActive: false });
  expect(active()).toEqual([]);
  expect(socket().heard('SET_ACTIVE_TAB').map(tabOf)).toEqual(['tab-a', 'tab-b', null]);
});

// Spec: multi-tab 80.
test('registration, focus and calls refresh lastSeen', () => {
  const { socket, page, controller } = world();
  const lastSeen = (): number => controller.tabs[0]?.lastSeen ?? 0;
  const a = page('tab-a');
  socket().welcome();
  const steps = [() => a.offer('one'), () => controller.handleSetActiveTab({ tabId: 'tab-a' }), () => socket().call('7', 'tab-a', 'one')];
  expect(lastSeen()).toBe(Date.now());
  const moved = steps.map((step) => {
    vi.advanceTimersByTime(1000);
    step();
    return lastSeen() === Date.now();
  });
  expect(moved).toEqual([false, true, true]);
});

// Spec: multi-tab 44.
test('an id that a live page holds is refused to another', () => {
  const { socket, page, controller } = world();
  const a = page('tab-a');
  socket().welcome();
  const copy = page('tab-a');
  expect(a.last()).toEqual({ type: 'ARE_YOU_THERE' });
  a.say({ type: 'PING' });
  expect(copy.last()).toEqual({ type: 'TAB_ID_TAKEN' });
  copy.register('tab-b');
  expect(controller.tabs.map((tab) => tab.tabId)).toEqual(['tab-a', 'tab-b']);
});

// Spec: multi-tab 44.
test('a page that is busy and does not answer keeps its id as long as it holds its lock', () => {
  const { page, controller } = world();
  page('tab-a');
  const copy = page('tab-a');
  vi.advanceTimersByTime(1000);
  expect(copy.last()).toEqual({ type: 'TAB_ID_TAKEN' });
  expect(controller.tabs).toHaveLength(1);
});

// Spec: multi-tab 42.
test('the next document of a tab gets the id as soon as the last one is gone', () => {
  const { socket, page, controller } = world();
  const before = page('tab-a');
  socket().welcome();
  before.offer('one');
  const after = page('tab-a');
  before.say({ type: 'UNREGISTER_TAB' });
  expect(after.heard.some((message) => message.type === 'TAB_REGISTERED')).toBe(true);
  expect(controller.tabs).toMatchObject([{ tabId: 'tab-a', tools: [] }]);
  expect(socket().messages.slice(-2)).toMatchObject([{ type: 'UNREGISTER_TAB' }, { type: 'REGISTER_TAB', tabId: 'tab-a' }]);
});

// Spec: multi-tab 42.
test('where there are no locks, a silent document gives way to the next one', () => {
  const { page, controller } = world({ hasLocks: false });
  page('tab-a');
  const after = page('tab-a');
  vi.advanceTimersByTime(1000);
  expect(after.heard.some((message) => message.type === 'TAB_REGISTERED')).toBe(true);
  expect(controller.tabs).toHaveLength(1);
});

// Spec: page-proxy 10, 37.
test('only proxies are taken, and only from tabs', () => {
  const { page, controller } = world();
  const a = page('tab-a');
  const tool = { type: 'REGISTER_TOOL', tabId: 'tab-a', name: 'one', description: '', inputSchema: {}, webMcp: false, requestId: 1 };
  a.sayAnything({ ...tool, handlerType: 'code' });
  expect(a.last()).toEqual({ type: 'DONE', requestId: 1, error: "Unsupported handlerType 'code'; use 'proxy'." });
  a.say({ type: 'UNREGISTER_TAB' });
  a.sayAnything({ ...tool, handlerType: 'proxy' });
  expect(a.last()).toMatchObject({ type: 'DONE', error: 'This tab is not registered yet.' });
  expect(controller.tabs).toEqual([]);
});

// Spec: page-proxy 33.
test('when the daemon comes back it is told everything in order, and old calls are forgotten', () => {
  const { sockets, socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  a.offer('one');
  page('tab-b').say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-b', isActive: true });
  socket().call('1', 'tab-a', 'one');
  const { callId } = a.call();
  socket().drop();
  expect(a.heard).toContainEqual({ type: 'CANCEL_CALL', callId });
  expect(a.heard).toContainEqual({ type: 'CONNECTION_STATUS', connected: false, reason: 'No daemon answers at ws://daemon/page.' });
  a.offer('two');
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(2);
  socket().welcome();
  expect(socket().messages.map((message) => [message['type'], tabOf(message), message['name']])).toEqual([
    ['HELLO', undefined, undefined],
    ['REGISTER_TAB', 'tab-a', undefined],
    ['REGISTER_TOOL', 'tab-a', 'one'],
    ['REGISTER_TOOL', 'tab-a', 'two'],
    ['REGISTER_TAB', 'tab-b', undefined],
    ['SET_ACTIVE_TAB', 'tab-b', undefined],
  ]);
  // A new daemon counts its calls from the start, and an answer to the old call is none to the new one.
  socket().call('1', 'tab-a', 'two');
  a.say({ type: 'TOOL_CALL_RESULT', callId, success: true, result: { content: [] } });
  expect(socket().heard('TOOL_CALL_RESULT')).toEqual([]);
});

test('a daemon that is away is asked less and less often, and at once when the user comes', () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { sockets, socket, page } = world();
  const a = page('tab-a');
  const waits = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((wait) => {
    socket().drop();
    const before = sockets.length;
    vi.advanceTimersByTime(wait - 1);
    const isEarly = sockets.length > before;
    vi.advanceTimersByTime(1);
    return !isEarly && sockets.length === before + 1;
  });
  expect(waits).not.toContain(false);
  socket().drop();
  const before = sockets.length;
  a.say({ type: 'SET_ACTIVE_TAB', tabId: 'tab-a', isActive: true });
  expect(sockets).toHaveLength(before + 1);
  vi.restoreAllMocks();
});

test('a public application asks for a relay in one tab after the other, because a tab may hang, and tries by itself between', () => {
  const { sockets, socket, page } = world({ isLocal: false });
  const pages = [page('tab-a'), page('tab-b')];
  const asked = (): number[] => pages.map(({ heard }) => heard.filter(({ type }) => type === 'RELAY').length);
  const isTriedAgain = (): void => void vi.advanceTimersByTime(31_000);
  expect([asked(), sockets.length]).toEqual([[1, 0], 0]);
  isTriedAgain();
  for (const relays of [
    [1, 1],
    [2, 1],
    [2, 2],
  ]) {
    socket().drop();
    isTriedAgain();
    expect(asked()).toEqual(relays);
    isTriedAgain();
  }
  expect(sockets).toHaveLength(4);
});

test('a refusal reaches the page, and so does a daemon of another time', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().open();
  socket().say({ type: 'REFUSED', reason: 'Not this origin.' });
  expect(a.heard).toContainEqual({ type: 'CONNECTION_STATUS', connected: false, reason: 'Not this origin.' });
  vi.advanceTimersByTime(30_000);
  socket().open();
  socket().say({ type: 'WELCOME', version: 2 });
  expect(JSON.stringify(a.heard)).toContain('The daemon uses protocol 2, this page 1; update the older one.');
});

test('a daemon that has gone silent is left', () => {
  const { sockets, socket, page } = world();
  page('tab-a');
  socket().welcome();
  vi.advanceTimersByTime(40_000);
  expect(socket().heard('PING')).toHaveLength(2);
  vi.advanceTimersByTime(20_000);
  expect(socket().isClosed).toBe(true);
  vi.advanceTimersByTime(500);
  expect(sockets).toHaveLength(2);
});

test('without tabs there is no connection', () => {
  const { sockets, socket, page } = world();
  expect(sockets).toHaveLength(0);
  const a = page('tab-a');
  socket().welcome();
  a.say({ type: 'UNREGISTER_TAB' });
  expect(socket().isClosed).toBe(true);
  vi.advanceTimersByTime(120_000);
  expect(sockets).toHaveLength(1);
});

test('nonsense from the daemon is ignored', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  const before = a.heard.length;
  const frames = [
    '',
    '{',
    'null',
    '[]',
    '7',
    '{}',
    '{"type":7}',
    '{"type":"CALL_TOOL"}',
    '{"type":"CALL_TOOL","callId":{}}',
    '{"type":"NEW_IN_VERSION_2"}',
  ];
  for (const frame of frames) socket().frame(frame);
  socket().frame(new ArrayBuffer(3));
  expect(a.heard).toHaveLength(before);
  expect(socket().isClosed).toBe(false);
});

// Spec: multi-tab 44.
test('a tab whose id the daemon knows from elsewhere is told to take another one', () => {
  const { socket, page } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  b.offer('one');
  socket().say({ type: 'TAB_REFUSED', tabId: 'tab-b', anotherId: true, reason: 'Another tab already has this id.' });
  expect(b.last()).toEqual({ type: 'TAB_ID_TAKEN' });
  expect(a.heard).not.toContainEqual({ type: 'TAB_ID_TAKEN' });
  socket().call('1', 'tab-b', 'one');
  expect(socket().last()).toMatchObject({ callId: '1', success: false, code: 'no_tab' });
});

test('a tab that is refused is told why, and is told to the daemon again when another has gone', () => {
  const { socket, page } = world();
  const [a, b] = [page('tab-a'), page('tab-b')];
  socket().welcome();
  b.offer('one');
  const reason = 'This worker already has 1000 tabs.';
  socket().say({ type: 'TAB_REFUSED', tabId: 'tab-b', anotherId: false, reason });
  expect(b.heard).toContainEqual({ type: 'TAB_REFUSED', reason });
  expect(b.heard).toContainEqual({ type: 'CONNECTION_STATUS', connected: false, reason });
  expect(a.heard).not.toContainEqual({ type: 'CONNECTION_STATUS', connected: false, reason });
  const before = b.heard.length;
  socket().say({ type: 'TOOL_REJECTED', tabId: 'tab-b', name: 'one', reason: 'There is no such tab.' });
  expect(b.heard).toHaveLength(before);
  a.say({ type: 'UNREGISTER_TAB' });
  expect(socket().heard('REGISTER_TAB').map(tabOf)).toEqual(['tab-a', 'tab-b', 'tab-b']);
  expect(socket().last()).toMatchObject({ type: 'REGISTER_TOOL', tabId: 'tab-b', name: 'one' });
  expect(b.heard.filter((message) => message.type === 'CONNECTION_STATUS').at(-1)).toMatchObject({ connected: true, reason: '' });
});

test('a tool that the daemon rejects is told to its page', () => {
  const { socket, page } = world();
  const a = page('tab-a');
  socket().welcome();
  socket().say({ type: 'TOOL_REJECTED', tabId: 'tab-a', name: 'one', reason: 'Too many.' });
  expect(a.last()).toEqual({ type: 'TOOL_REJECTED', name: 'one', reason: 'Too many.' });
});

test('the documentation has an example of every message', () => {
  const types = [...new Set(examples.map((example) => example['type']))].sort();
  expect(types).toEqual([
    ...['CALL_TOOL', 'CANCEL_CALL', 'HELLO', 'PING', 'PONG', 'REFUSED', 'REGISTER_TAB', 'REGISTER_TOOL', 'SET_ACTIVE_TAB'],
    ...['TAB_REFUSED', 'TOOL_CALL_RESULT', 'TOOL_REJECTED', 'UNREGISTER_TAB', 'UNREGISTER_TOOL', 'UPDATE_TAB', 'WELCOME'],
  ]);
});

function tabOf(message: JsonObject): unknown {
  return message['tabId'];
}
