/** What the extension reports about tabs. */

import { expect, test, vi } from 'vitest';
import type { FromExtension } from '../src/messages.js';
import { Tabs } from '../src/tabs.js';

type Listener = (...words: unknown[]) => void;

// Spec: dynamic-tools 69, 70, 71, 72.
test('every change of a tab is told once somebody listens, and a new tab of the person has no opener', () => {
  const listeners: Record<string, Listener> = {};
  const event = (name: string) => ({ addListener: (listener: Listener) => void (listeners[name] = listener) });
  const names = ['onCreated', 'onUpdated', 'onRemoved', 'onReplaced', 'onActivated'];
  const windows = { onFocusChanged: event('onFocusChanged') };
  Object.assign(globalThis, { chrome: { windows, tabs: Object.fromEntries(names.map((name) => [name, event(name)])) } });
  const told: FromExtension[] = [];
  const tabs = new Tabs((message) => told.push(message));
  tabs.listen();
  const tab = { id: 7, windowId: 1, active: false, title: 'A', url: 'https://a.example/', openerTabId: 3 };
  listeners['onCreated']?.(tab);
  expect(told).toEqual([]);
  tabs.isHeard = true;
  const known = { id: 7, windowId: 1, active: false, title: 'A', url: 'https://a.example/' };
  listeners['onCreated']?.(tab);
  listeners['onCreated']?.({ ...tab, url: '', pendingUrl: 'chrome://newtab/' });
  listeners['onUpdated']?.(7, { favIconUrl: 'x' }, tab);
  listeners['onUpdated']?.(7, { title: 'A' }, tab);
  listeners['onActivated']?.({ tabId: 7 });
  listeners['onRemoved']?.(7);
  expect(told).toEqual([
    { type: 'tabCreated', tab: { ...known, openerId: 3 } },
    { type: 'tabCreated', tab: { ...known, url: 'chrome://newtab/' } },
    { type: 'tabUpdated', tab: { ...known, openerId: 3 } },
    { type: 'tabFocused', tabId: 7, tools: [] },
    { type: 'tabClosed', tabId: 7 },
  ]);
});

test('private windows are reported only if that is wanted, and no tab is opened there', async () => {
  const listeners: Record<string, Listener> = {};
  const event = (name: string) => ({ addListener: (listener: Listener) => void (listeners[name] = listener) });
  const names = ['onCreated', 'onUpdated', 'onRemoved', 'onReplaced', 'onActivated'];
  const tab = { id: 7, windowId: 1, active: false, incognito: false, title: 'A', url: 'https://a.example/' };
  const secret = { ...tab, id: 8, windowId: 2, incognito: true };
  let windows = [
    { id: 2, incognito: true },
    { id: 1, incognito: false },
  ];
  const opened: unknown[] = [];
  Object.assign(globalThis, {
    chrome: {
      tabs: {
        ...Object.fromEntries(names.map((name) => [name, event(name)])),
        query: async ({ windowId }: { windowId?: number }) => [tab, secret].filter((it) => windowId === undefined || it.windowId === windowId),
        create: async (wanted: unknown) => {
          opened.push(wanted);
          return { id: 9 };
        },
      },
      windows: {
        onFocusChanged: event('onFocusChanged'),
        getAll: async () => windows,
        getLastFocused: async () => windows[0],
        create: async (wanted: unknown) => {
          opened.push(wanted);
          return { tabs: [{ id: 10 }] };
        },
      },
    },
  });
  const told: FromExtension[] = [];
  const tabs = new Tabs((message) => told.push(message));
  tabs.listen();
  tabs.isHeard = true;
  const ids = async () => (await tabs.all()).map((known) => [known.id, known.private]);
  listeners['onCreated']?.(secret);
  listeners['onUpdated']?.(8, { url: secret.url }, secret);
  for (const windowId of [2, -1]) listeners['onFocusChanged']?.(windowId);
  expect([told, await ids()]).toEqual([[], [[7, undefined]]]);
  tabs.hearsOfPrivate = true;
  listeners['onCreated']?.(secret);
  expect(told).toEqual([{ type: 'tabCreated', tab: { id: 8, windowId: 2, active: false, title: 'A', url: tab.url, private: true } }]);
  expect(await ids()).toEqual([
    [7, undefined],
    [8, true],
  ]);
  // Who turns to another window has its tab in front.
  listeners['onFocusChanged']?.(1);
  await vi.waitUntil(() => told.length > 1);
  expect(told[1]).toEqual({ type: 'tabFocused', tabId: 7, tools: [] });
  expect(await tabs.open('about:blank', false)).toBe(9);
  windows = windows.slice(0, 1);
  expect(await tabs.open('about:blank', false)).toBe(10);
  windows = [{ id: 1, incognito: false }];
  await tabs.open('about:blank', true);
  expect(opened).toEqual([
    { url: 'about:blank', active: false, windowId: 1 },
    { url: 'about:blank', focused: false, incognito: false },
    { url: 'about:blank', active: true, windowId: 1 },
  ]);
});

test('a window that is about to close is not used for a new tab', async () => {
  const made: unknown[] = [];
  const inWindow = async (wanted: unknown) => {
    made.push(wanted);
    return { tabs: [{ id: 10 }] };
  };
  const inTab = async (wanted: unknown) => {
    made.push(wanted);
    return { id: 9 };
  };
  const refused = () => Promise.reject(new Error('No current window'));
  const opens = (windows: unknown[], create: typeof inTab, last = windows[0]) => {
    const getLastFocused = async () => last;
    Object.assign(globalThis, { chrome: { tabs: { create }, windows: { getAll: async () => windows, getLastFocused, create: inWindow } } });
    return new Tabs(() => undefined).open('about:blank', false);
  };
  const closing = { id: 1, incognito: false, tabs: [] };
  const used = { id: 2, incognito: false, tabs: [{ id: 7 }] };
  expect(await opens([closing], inTab)).toBe(10);
  expect(await opens([closing, used], inTab)).toBe(9);
  // Chrome may no longer list the closing window, and still take it for the last focused one.
  expect(await opens([used], inTab, closing)).toBe(9);
  const focused = { id: 3, incognito: false, tabs: [{ id: 8 }] };
  expect(await opens([used, focused], inTab, focused)).toBe(9);
  expect(await opens([used], refused)).toBe(10);
  expect(made).toEqual([
    { url: 'about:blank', focused: false, incognito: false },
    { url: 'about:blank', active: false, windowId: 2 },
    { url: 'about:blank', active: false, windowId: 2 },
    { url: 'about:blank', active: false, windowId: 3 },
    { url: 'about:blank', focused: false, incognito: false },
  ]);
});
