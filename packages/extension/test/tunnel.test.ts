/** Chrome's debugger: attached and let go in order, and "Cancel" is heard. */

import { expect, test, vi } from 'vitest';
import type { FromExtension } from '../src/messages.js';
import { Tunnel } from '../src/tunnel.js';

test('a tab is attached and let go one after the other, and "Cancel" in the bar is told', async () => {
  const did: string[] = [];
  let detached: ((source: { tabId?: number }, reason: string) => void) | undefined;
  let release: (() => void) | undefined;
  Object.assign(globalThis, {
    chrome: {
      debugger: {
        onEvent: { addListener: () => undefined },
        onDetach: { addListener: (listener: typeof detached) => void (detached = listener) },
        attach: async ({ tabId }: { tabId: number }) => void did.push(`attach ${tabId}`),
        detach: async ({ tabId }: { tabId: number }) => {
          await new Promise<void>((resolve) => (release = resolve));
          did.push(`detach ${tabId}`);
        },
        sendCommand: async () => ({}),
        getTargets: async () => [{ attached: true, tabId: 1 }, { attached: false, tabId: 2 }, { attached: true }],
      },
    },
  });
  const told: FromExtension[] = [];
  const cancelled: number[] = [];
  const tunnel = new Tunnel(
    (message) => told.push(message),
    (tabId) => cancelled.push(tabId),
  );
  tunnel.listen();
  await tunnel.attach(1);
  const [gone, again, other] = [tunnel.detach(1), tunnel.attach(1), tunnel.attach(2)];
  await other;
  expect(did).toEqual(['attach 1', 'attach 2']);
  release?.();
  await Promise.all([gone, again]);
  expect(did).toEqual(['attach 1', 'attach 2', 'detach 1', 'attach 1']);
  release = undefined;
  const all = tunnel.detachAll();
  (await vi.waitUntil(() => release))();
  await all;
  expect(did.at(-1)).toBe('detach 1');
  detached?.({ tabId: 1 }, 'target_closed');
  detached?.({ tabId: 2 }, 'canceled_by_user');
  expect(told).toEqual([
    { type: 'detached', tabId: 1, reason: 'target_closed' },
    { type: 'detached', tabId: 2, reason: 'canceled_by_user' },
  ]);
  expect(cancelled).toEqual([2]);
});

test('a script is ended by stopping it, which Chrome lets an extension do, and nothing else is stopped', async () => {
  vi.useFakeTimers();
  const sent: string[] = [];
  let isBusy = true;
  let isOver = (): void => undefined;
  let heard: ((source: { tabId?: number }, method: string, params?: object) => void) | undefined;
  Object.assign(globalThis, {
    chrome: {
      debugger: {
        onEvent: { addListener: (listener: typeof heard) => void (heard = listener) },
        onDetach: { addListener: () => undefined },
        attach: async () => undefined,
        sendCommand: async (_: object, method: string, params?: object) => {
          if (method !== 'Runtime.evaluate') sent.push(`${method} ${JSON.stringify(params ?? {})}`);
          else if (isBusy) await new Promise<void>((resolve) => void (isOver = resolve));
        },
      },
    },
  });
  const told: FromExtension[] = [];
  const tunnel = new Tunnel(
    (message) => told.push(message),
    () => undefined,
  );
  tunnel.listen();
  await tunnel.attach(1);
  // No page stops itself with `debugger`.
  expect(sent.splice(0)).toEqual(['Debugger.enable {}', 'Debugger.setBreakpointsActive {"active":false}']);
  const terminate = { type: 'cdp', requestId: 1, tabId: 1, method: 'Runtime.terminateExecution', params: {} } as const;
  const ended = tunnel.send(terminate);
  await vi.advanceTimersByTimeAsync(150);
  expect(sent).toHaveLength(1);
  heard?.({ tabId: 1 }, 'Debugger.paused', {});
  await ended;
  expect(sent.splice(0)).toEqual(['Debugger.pause {}', 'Debugger.resume {"terminateOnResume":true}']);
  // Where nothing runs, nothing that begins later is stopped.
  isBusy = false;
  await tunnel.send(terminate);
  expect(sent).toEqual([]);
  isBusy = true;
  // Nor where the script ended by itself while it was to be stopped; two who want that do not mix.
  const over = Promise.all([tunnel.send(terminate), tunnel.send(terminate)]);
  await vi.advanceTimersByTimeAsync(150);
  isBusy = false;
  isOver();
  await over;
  heard?.({ tabId: 1 }, 'Debugger.paused', {});
  expect(sent.splice(0)).toEqual([
    'Debugger.pause {}',
    'Debugger.disable {}',
    'Debugger.enable {}',
    'Debugger.setBreakpointsActive {"active":false}',
    'Debugger.resume {}',
  ]);
  isBusy = true;
  const idle = tunnel.send(terminate);
  await vi.advanceTimersByTimeAsync(1_000);
  await idle;
  expect(sent.splice(0)).toEqual([
    'Debugger.pause {}',
    'Debugger.disable {}',
    'Debugger.enable {}',
    'Debugger.setBreakpointsActive {"active":false}',
  ]);
  heard?.({ tabId: 1 }, 'Debugger.paused', {});
  expect(sent.splice(0)).toEqual(['Debugger.resume {}']);
  heard?.({ tabId: 1 }, 'Debugger.scriptParsed', {});
  heard?.({ tabId: 1 }, 'Target.attachedToTarget', { sessionId: 'F' });
  expect(sent.splice(0)).toEqual(['Debugger.enable {}', 'Debugger.setBreakpointsActive {"active":false}']);
  expect(told.map((message) => message.type)).toEqual(['cdp', 'cdp', 'cdp', 'cdp', 'cdp', 'cdpEvent']);
  vi.useRealTimers();
});
