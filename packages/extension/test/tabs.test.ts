/** What is told of tabs. */

import { expect, test } from 'vitest';
import type { FromExtension } from '../src/messages.js';
import { Tabs } from '../src/tabs.js';

type Listener = (...words: unknown[]) => void;

test('R004-69 R004-70 R004-71 R004-72 every change of a tab is told once somebody listens, and a new tab of the person has no opener', () => {
  const listeners: Record<string, Listener> = {};
  const event = (name: string) => ({ addListener: (listener: Listener) => void (listeners[name] = listener) });
  const names = ['onCreated', 'onUpdated', 'onRemoved', 'onReplaced', 'onActivated'];
  Object.assign(globalThis, { chrome: { tabs: Object.fromEntries(names.map((name) => [name, event(name)])) } });
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
