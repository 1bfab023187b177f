/** The side panels: only our own page is one, whatever scripts of ours run in pages. */

import { beforeEach, expect, test } from 'vitest';
import { type FromPanel, Panels } from '../src/panels.js';
import { ID } from './fake-chrome.js';

const OWN = `chrome-extension://${ID}`;
let connect: (port: object) => void;

beforeEach(() => {
  const onConnect = { addListener: (listener: never) => (connect = listener) };
  Object.assign(globalThis, { chrome: { runtime: { id: ID, onConnect } }, location: { origin: OWN } });
});

test('s21 only the page of the panel is shown anything, and only what it wants is done', () => {
  const wishes: FromPanel[] = [];
  new Panels((wish) => wishes.push(wish)).listen();
  const opened = (sender: object, name = 'panel'): unknown[] => {
    const said: unknown[] = [];
    const onMessage = { addListener: (listener: (wish: FromPanel) => void) => listener({ type: 'resume' }) };
    connect({ name, sender, onMessage, onDisconnect: { addListener: () => undefined }, postMessage: (text: unknown) => said.push(text) });
    return said;
  };
  const page = { id: ID, origin: 'https://evil.example', frameId: 0, tab: { id: 1 } };
  for (const sender of [page, { ...page, origin: undefined }, { id: 'another', origin: OWN }]) expect(opened(sender)).toEqual([]);
  expect([opened({ id: ID, origin: OWN }, 'relay'), wishes]).toEqual([[], []]);
  expect(opened({ id: ID, origin: OWN })).toHaveLength(1);
  expect(wishes).toEqual([{ type: 'resume' }]);
});
