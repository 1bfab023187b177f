/** A page with the library in a browser that tabmux controls: one tab, however it is known. Needs a built tabmux. */

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { launch } from './support/browser.js';
import { RawBrowser } from './support/raw-browser.js';
import { Site } from './support/site.js';
import { isBuilt, Tabmux } from './support/tabmux.js';

interface Row {
  tabId: string;
  url: string;
}

let site: Site;
let otherSite: Site;
let tabmux: Tabmux;

beforeAll(async () => {
  if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
  site = await Site.start();
  otherSite = await Site.start(undefined, '127.0.0.1');
});
afterAll(() => Promise.all([site.stop(), otherSite.stop()]));
beforeEach(async () => {
  tabmux = await Tabmux.start();
});
afterEach(() => tabmux.stop());

const PATIENTLY = { timeout: 20_000, interval: 20 };
const app = (at = site, script?: string): string => at.app({ tools: 'one', daemon: tabmux.url, ...(script && { script }) });
const rows = async (): Promise<Row[]> => JSON.parse((await tabmux.call('list_browser_tabs')).text) as Row[];

/** Opens the application in a tab of the agent's; answers the tab's number and the name it gave itself. */
async function opened(url: string): Promise<{ number: string; name: string }> {
  const { text } = await tabmux.call('new_page', { url });
  const number = /page (\d+):/.exec(text)?.[1] ?? '';
  await vi.waitFor(async () => expect((await tabmux.call('list_page_tools', { tabId: number })).text).toMatch(/^one in tab [0-9a-f]{8}-/), PATIENTLY);
  const name = await evaluate('() => workerClient.getTabId()');
  return { number, name };
}

async function evaluate(source: string): Promise<string> {
  const { text } = await tabmux.call('evaluate_script', { function: source });
  return String(JSON.parse(/```json\n(.*)\n```/s.exec(text)?.[1] ?? text));
}

const whoRan = async (args: object = {}): Promise<string> => {
  const { text } = await tabmux.call('one', args);
  return (JSON.parse(text.split('\n')[0] ?? '') as { tab: string }).tab;
};

// Spec: multi-tab 1.
test('a tab that the browser and the library know is one tab, with each tool once', async () => {
  const [a, b] = [await opened(app()), await opened(app())];
  // The page told the browser of its tool, too.
  expect(await evaluate('async () => (await document.modelContext.getTools()).map((tool) => tool.name).join()')).toBe('one');
  expect((await rows()).map(({ tabId }) => tabId).sort()).toEqual([a.name, b.name].sort());
  for (const { number, name } of [a, b]) {
    const { text } = await tabmux.call('list_page_tools', { tabId: number });
    expect(text.match(/^one in tab/gm)).toHaveLength(1);
    expect(text).toContain(name);
  }
  // The session's own tab comes first, and each call runs once.
  expect(await whoRan()).toBe(b.name);
  await tabmux.call('select_page', { pageId: Number(a.number) });
  expect(await whoRan()).toBe(a.name);
  expect(await whoRan({ tabId: b.name })).toBe(b.name);
  expect(await whoRan({ tabId: a.number })).toBe(a.name);
  expect(await evaluate('() => window.runs')).toBe('2');

  await tabmux.call('navigate_page', { type: 'reload' });
  await vi.waitFor(async () => expect((await tabmux.call('list_page_tools', { tabId: a.number })).text).toContain(`one in tab ${a.name}`), PATIENTLY);
  expect(await rows()).toHaveLength(2);
  expect(await whoRan()).toBe(a.name);

  await tabmux.call('close_page', { pageId: Number(a.number) });
  await vi.waitFor(async () => expect((await rows()).map(({ tabId }) => tabId)).toEqual([b.name]), PATIENTLY);
  expect((await tabmux.call('one', { tabId: a.name })).isError).toBe(true);
  // A page that leaves takes the library along, and the tab stays.
  await tabmux.call('select_page', { pageId: Number(b.number) });
  await tabmux.call('navigate_page', { type: 'url', url: 'data:text/html,<title>Away</title>' });
  await vi.waitFor(async () => expect(await rows()).toEqual([]), PATIENTLY);
  expect((await tabmux.tools()).has('one')).toBe(false);
  expect((await tabmux.call('list_pages')).text).toContain('Away');
});

// Spec: multi-tab 72, 73.
test('a page that repeats the nonce of another is not taken for its tab', async () => {
  const a = await opened(app());
  const nonce = await evaluate("() => window[Symbol.for('tabmux.nonce')]");
  expect(nonce).toMatch(/^[0-9a-f]{32}$/);
  const script = `addEventListener('tabmux-hello', () => Object.defineProperty(window, Symbol.for('tabmux.nonce'), { value: '${nonce}' }))`;
  const browser: Browser = await launch();
  const context = await browser.newContext();
  for (const at of [otherSite, site]) await (await context.newPage()).goto(app(at, script));
  await vi.waitFor(async () => expect(await rows()).toHaveLength(3), PATIENTLY);
  const { text } = await tabmux.call('list_page_tools', { tabId: a.number });
  expect(text).toContain(`one in tab ${a.name}`);
  expect(await whoRan({ tabId: a.number })).toBe(a.name);
  expect(await whoRan()).toBe(a.name);
  await browser.close();
  await vi.waitFor(async () => expect(await rows()).toHaveLength(1), PATIENTLY);
  expect(await whoRan()).toBe(a.name);
});

test('a page that was there before the agent came becomes one tab as soon as the agent works in it', async () => {
  const browser = await RawBrowser.start();
  const guest = await Tabmux.start(`--wsEndpoint=${browser.endpoint}`);
  try {
    await browser.newTab(site.app({ tools: 'one', daemon: guest.url }));
    const known = async (): Promise<Row[]> => JSON.parse((await guest.call('list_browser_tabs')).text) as Row[];
    await vi.waitFor(async () => expect(await known()).toHaveLength(1), PATIENTLY);
    const [row] = await known();
    const number = /^(\d+): An application/m.exec((await guest.call('list_pages')).text)?.[1] ?? '';
    await guest.call('select_page', { pageId: Number(number) });
    await vi.waitFor(
      async () => expect((await guest.call('list_page_tools', { tabId: number })).text).toContain(`one in tab ${row?.tabId}`),
      PATIENTLY,
    );
    expect(await known()).toHaveLength(1);
    expect((await guest.call('one')).text).toContain(row?.tabId);
  } finally {
    await guest.stop();
    await browser.stop();
  }
});
