/** What is too large for the daemon is not sent; what it was about is. */

import { expect, test } from 'vitest';
import { excess, smallParts } from '../src/size.js';
import type { FromExtension } from '../src/messages.js';
import { Tunnel } from '../src/tunnel.js';

test('a size is that of the text that would be sent', () => {
  expect(excess({ a: 'x'.repeat(90) }, 100)).toBeUndefined();
  expect(excess({ a: 'x'.repeat(93) }, 100)).toBe(101);
  expect(excess({ a: '\u0001'.repeat(20) }, 100)).toBe(128);
  expect(excess({ a: '\u20ac'.repeat(40) }, 100)).toBe(128);
  expect(excess({ a: ['x'.repeat(60), { b: 'x'.repeat(60) }] }, 100)).toBe(120);
  expect(excess(undefined, 100)).toBeUndefined();
});

test('of what is too large the small parts are told', () => {
  const large = 'x'.repeat(5000);
  const event = { requestId: '7', request: { url: 'http://a/', postData: large, headers: { a: 'b' } }, args: [1], text: large, at: 3, none: null };
  expect(smallParts(event)).toEqual({ requestId: '7', request: { url: 'http://a/' }, at: 3 });
  expect(smallParts(undefined)).toEqual({});
});

test('an event and an answer that are too large are told by their size, and others are sent', async () => {
  let heard: ((source: { tabId?: number; sessionId?: string }, method: string, params?: object) => void) | undefined;
  const huge = 'x'.repeat(33 * 1024 * 1024);
  Object.assign(globalThis, {
    chrome: {
      debugger: {
        onEvent: { addListener: (listener: typeof heard) => void (heard = listener) },
        onDetach: { addListener: () => undefined },
        sendCommand: async (_: object, method: string) => ({ data: method === 'Page.huge' ? huge : 'small' }),
      },
    },
  });
  const told: FromExtension[] = [];
  const tunnel = new Tunnel(
    (message) => told.push(message),
    () => undefined,
  );
  tunnel.listen();
  heard?.({ tabId: 1, sessionId: 's' }, 'Runtime.consoleAPICalled', { type: 'log', args: [{ value: huge }] });
  heard?.({ tabId: 1 }, 'Page.loadEventFired', { timestamp: 1 });
  for (const [requestId, method] of [
    [1, 'Page.huge'],
    [2, 'Page.small'],
  ] as const)
    await tunnel.send({ type: 'cdp', requestId, tabId: 1, method, params: {} });
  expect(told).toEqual([
    { type: 'cdpEvent', tabId: 1, sessionId: 's', method: 'Runtime.consoleAPICalled', params: { type: 'log' }, tooLarge: huge.length },
    { type: 'cdpEvent', tabId: 1, method: 'Page.loadEventFired', params: { timestamp: 1 } },
    { type: 'cdp', requestId: 1, tooLarge: huge.length },
    { type: 'cdp', requestId: 2, result: { data: 'small' } },
  ]);
});
