/** The whole way: an MCP client, the daemon, the worker, the page. Needs a built tabmux. */

import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { launch, open } from './support/browser.js';
import { Site } from './support/site.js';
import { Tabmux, isBuilt } from './support/tabmux.js';

let browser: Browser;
let site: Site;
let context: BrowserContext;
let tabmux: Tabmux;

beforeAll(async () => {
  if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
  browser = await launch();
  site = await Site.start();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});
beforeEach(async () => {
  tabmux = await Tabmux.start();
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await tabmux.stop();
});

const told = (text: string): { tab: string; args: object } => JSON.parse(text) as { tab: string; args: object };

// Spec: multi-tab 44.
test('tabs of several workers that have the same id end up with an id each, and all their tools', async () => {
  const ids = async (count: number): Promise<string[]> => {
    const rows = (): Promise<{ tabId: string }[]> => tabmux.call('list_browser_tabs').then(({ text }) => JSON.parse(text) as { tabId: string }[]);
    await vi.waitFor(async () => expect(await rows()).toHaveLength(count), { timeout: 20_000, interval: 20 });
    return (await rows()).map(({ tabId }) => tabId);
  };
  const app = (at: Site, script?: string): string => at.app({ tools: 'one', worker: 'dedicated', daemon: tabmux.url, ...(script && { script }) });
  const first = await context.newPage();
  const given = await open(first, app(site));
  await ids(1);
  const script = `sessionStorage.setItem('tabmux_tab_id', '${given}')`;
  // The last of the same application keeps the id.
  const copy = await context.newPage();
  await copy.goto(app(site, script));
  await ids(2);
  // A stranger does not get it.
  const other = await Site.start(undefined, '127.0.0.1');
  const stranger = await context.newPage();
  await stranger.goto(app(other, script));
  const known = await ids(3);
  expect(new Set(known).size).toBe(3);
  const own = await Promise.all([first, copy, stranger].map((page) => page.evaluate('workerClient.getTabId()')));
  expect(own[1]).toBe(given);
  expect([...own].sort()).toEqual([...known].sort());
  for (const tabId of known) {
    await vi.waitFor(async () => expect(told((await tabmux.call('one', { tabId })).text)).toMatchObject({ tab: tabId }), {
      timeout: 20_000,
      interval: 20,
    });
  }
  await other.stop();
});

describe.each(['shared', 'service'])('with a %s worker', (worker) => {
  const app = (tools: string): string => site.app({ tools, worker, daemon: tabmux.url });
  const listed = (name: string, is = true): Promise<void> =>
    vi.waitFor(async () => expect((await tabmux.tools()).has(name)).toBe(is), { timeout: 20_000, interval: 20 });

  // Spec: multi-tab 14, 30, 31, 38, 41; page-proxy 15, 16, 21, 33.
  test('a tool of a page is one of the client, while a tab has it', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await listed('one');
    const tool = (await tabmux.tools()).get('one');
    expect(tool?.inputSchema.properties.tabId).toEqual({
      type: 'string',
      description:
        'Optional: Target specific tab by ID. If not provided, uses the currently focused tab. Use list_browser_tabs to discover available tabs.',
    });
    const answer = await tabmux.call('one', { n: 1 });
    expect(told(answer.text)).toMatchObject({ tab: tabId, args: { n: 1 } });
    await page.close();
    await listed('one', false);
  });

  // Spec: multi-tab 13, 35, 49, 51; page-proxy 22.
  test('calls reach the tab that they name, and none other', async () => {
    const [a, b] = [await open(await context.newPage(), app('one')), await open(await context.newPage(), app('one'))];
    await listed('one');
    await vi.waitFor(async () => expect((await tabmux.call('list_browser_tabs')).text).toContain(b), { timeout: 20_000, interval: 20 });
    const calls = Array.from({ length: 20 }, (_, n) => ({ n, tab: n % 2 ? a : b }));
    const answers = await Promise.all(calls.map(({ n, tab }) => tabmux.call('one', { n, tabId: tab })));
    expect(answers.map(({ text }) => told(text))).toMatchObject(calls.map(({ n, tab }) => ({ tab, args: { n } })));
    const wrong = await tabmux.call('one', { tabId: 'invalid-id' });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toMatch(/^Tool 'one' not available in tab 'invalid-id'\. Available tabs: /);
  });

  // Spec: multi-tab 25, 28.
  test('the tabs are listed with what they show', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await listed('one');
    const rows = JSON.parse((await tabmux.call('list_browser_tabs')).text) as { lastSeen: string }[];
    expect(rows).toMatchObject([{ tabId, url: page.url(), title: 'An application' }]);
    expect(rows[0]?.lastSeen).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});
