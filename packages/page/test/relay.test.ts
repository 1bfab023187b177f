/** Public pages, which Chrome keeps from this machine: what they offer comes through the extension. Needs a built tabmux. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RawBrowser, type RawTab } from './support/raw-browser.js';
import { Site } from './support/site.js';
import { isBuilt, Tabmux } from './support/tabmux.js';

let site: Site;
let tabmux: Tabmux;
let browser: RawBrowser;

beforeEach(async () => {
  if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
  site = await Site.start(undefined, 'app.example');
  const paired = await Tabmux.paired(site.origin);
  tabmux = paired.tabmux;
  const names = '--host-resolver-rules=MAP app.example 127.0.0.1, MAP evil.example 127.0.0.1';
  browser = await RawBrowser.start({ flags: [`--load-extension=${paired.extension}`, names] });
});
afterEach(async () => {
  await browser.stop();
  await tabmux.stop();
  await site.stop();
});

const soon = { timeout: 20_000, interval: 20 };
const app = (tools: string, origin = site.origin): string => site.app({ tools, daemon: NOWHERE }).replace(site.origin, origin);
const listed = async (): Promise<string[]> => (await tabmux.list()).map(({ name }) => name);

test('a public page offers its tools through the extension, and each call runs once in its tab', async () => {
  const tabs: RawTab[] = [await browser.newTab(app('one')), await browser.newTab(app('one,two'))];
  await vi.waitFor(async () => expect(await listed()).toEqual(expect.arrayContaining(['one', 'two'])), soon);
  const ids = await Promise.all(tabs.map((tab) => tab.evaluate('workerClient.getTabId()')));
  // The list says nothing about the first tab yet: the second one has both tools.
  for (const tabId of ids) {
    await vi.waitFor(async () => expect((await tabmux.call('list_page_tools', { tabId })).text).toMatch(/^one in tab/m), soon);
  }
  for (const tabId of ids) {
    const { text } = await tabmux.call('one', { tabId, n: 7 });
    expect(JSON.parse(text)).toMatchObject({ tab: tabId, args: { n: 7 } });
  }
  expect(await Promise.all(tabs.map((tab) => tab.evaluate('runs')))).toEqual([1, 1]);
  expect(await tabs[0]?.evaluate('workerClient.getConnectionStatus().connected')).toBe(true);
});

test('when the tab that carried goes, another one does', async () => {
  const first = await browser.newTab(app('one'));
  await vi.waitFor(async () => expect(await listed()).toContain('one'), soon);
  const second = await browser.newTab(app('two'));
  await vi.waitFor(async () => expect(await listed()).toContain('two'), soon);
  await browser.send('Target.closeTarget', { targetId: first.targetId });
  await vi.waitFor(async () => expect((await listed()).filter((name) => ['one', 'two'].includes(name))).toEqual(['two']), soon);
  await vi.waitFor(async () => expect((await tabmux.call('two')).isError).toBe(false), soon);
  expect(await second.evaluate('runs')).toBe(1);
});

test('a page that may not come is not told that somebody is there', async () => {
  const port = new URL(site.origin).port;
  const evil = await browser.newTab(app('steal', `http://evil.example:${port}`));
  await vi.waitFor(() => expect(tabmux.log).toContain('refused a page behind an extension'), soon);
  expect(tabmux.log).toContain(`page-origins add http://evil.example:${port}`);
  expect(await listed()).not.toContain('steal');
  await vi.waitFor(
    async () => expect(await evil.evaluate('workerClient.getConnectionStatus().reason')).toBe(`No daemon answers at ${NOWHERE}.`),
    soon,
  );
  // Nor does it find out by itself, as one that may come does.
  const refusals = (): number => tabmux.log.split('refused a page behind an extension').length;
  const before = refusals();
  await evil.evaluate(KNOCK);
  await vi.waitFor(() => expect(refusals()).toBeGreaterThan(before), soon);
  const good = await browser.newTab(app('one'));
  await good.evaluate(KNOCK);
  await vi.waitFor(async () => expect(await good.evaluate('heard')).toEqual(['']), soon);
  expect(await evil.evaluate('heard')).toEqual([]);
});

/** What a page does that wants to know whether somebody is there. */
const KNOCK = `{
  const { port1, port2 } = new MessageChannel();
  globalThis.heard = [];
  port1.onmessage = ({ data }) => heard.push(data);
  port1.onclose = () => heard.push('closed');
  postMessage('tabmux-relay', '/', [port2]);
}`;
/** Nobody listens here, so that what works works through the extension. */
const NOWHERE = 'ws://127.0.0.1:9/page';
