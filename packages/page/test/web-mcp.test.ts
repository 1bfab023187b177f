/** Tools are registered with WebMCP too, where a browser or a page has it, and run from there as well. */

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { answerOf, launch, open } from './support/browser.js';
import { FakeDaemon } from './support/daemon.js';
import { Site } from './support/site.js';

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
let daemon: FakeDaemon;

beforeAll(async () => {
  browser = await launch('--enable-features=WebMCP');
  site = await Site.start();
});
afterAll(() => Promise.all([browser.close(), site.stop()]));
beforeEach(async () => {
  daemon = await FakeDaemon.start();
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(async () => {
  await context.close();
  await daemon.stop();
});

const NATIVE = 'document.modelContext.getTools().then((tools) => tools.map((tool) => tool.name))';
const app = (tools: string): string => site.app({ tools, daemon: daemon.url });

test('a tool is there once in each, runs from both, and the daemon knows that they are the same', async () => {
  const tabId = await open(page, app('one,two'));
  const { tools } = await daemon.tab(tabId, 'one', 'two');
  expect([...tools.values()].map((tool) => tool.webMcp)).toEqual([true, true]);
  expect(await page.evaluate(NATIVE)).toEqual(['one', 'two']);
  expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
  expect(await page.evaluate('runs')).toBe(1);
  const native = await page.evaluate(`document.modelContext.getTools().then(([tool]) => document.modelContext.executeTool(tool, { x: 1 }))`);
  expect(JSON.parse(JSON.parse(String(native)).content[0].text)).toMatchObject({ tab: tabId, args: { x: 1 } });
  expect(await page.evaluate('runs')).toBe(2);
});

test('a tool that is replaced or taken back is so there too', async () => {
  const tabId = await open(page, app('one'));
  await page.evaluate("workerClient.registerTool('one', () => 'second')");
  await daemon.until(() => daemon.count('REGISTER_TOOL') === 2);
  const { tools } = await daemon.tab(tabId, 'one');
  expect(tools.get('one')?.webMcp).toBe(true);
  const answer = await page.evaluate('document.modelContext.getTools().then(([tool]) => document.modelContext.executeTool(tool, {}))');
  expect(String(answer)).toContain('second');
  await page.evaluate("workerClient.unregisterTool('one')");
  expect(await page.evaluate(NATIVE)).toEqual([]);
});

test("a name that the page itself took there stays the page's, and the daemon learns it", async () => {
  await page.addInitScript("document.modelContext?.registerTool({ name: 'one', description: 'of the page', execute: async () => 'the page' })");
  const tabId = await open(page, app('one'));
  await daemon.until(() => daemon.tabs.get(tabId)?.tools.get('one')?.webMcp === false);
  expect(await page.evaluate(NATIVE)).toEqual(['one']);
  expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
});

test('the older place with its own way to unregister works as well', async () => {
  await page.addInitScript(`
    delete Document.prototype.modelContext;
    window.old = new Map();
    Object.defineProperty(navigator, 'modelContext', { value: {
      registerTool(tool) { if (old.has(tool.name)) throw new Error('taken'); old.set(tool.name, tool); },
      unregisterTool(name) { old.delete(name); },
    } });`);
  const tabId = await open(page, app('one'));
  const { tools } = await daemon.tab(tabId, 'one');
  expect(tools.get('one')?.webMcp).toBe(true);
  const answer = await page.evaluate("old.get('one').execute({ x: 2 })");
  expect(JSON.stringify(answer)).toContain(tabId);
  await page.evaluate("workerClient.unregisterTool('one')");
  expect(await page.evaluate('old.size')).toBe(0);
});

test('it can be switched off', async () => {
  await page.goto(`${site.origin}/app?daemon=${daemon.url}`);
  const names = await page.evaluate(`import('/tabmux/index.js').then(async ({ WorkerClient }) => {
    const client = new WorkerClient();
    await client.init({ daemonUrl: ${JSON.stringify(daemon.url)}, webMcp: false });
    await client.registerTool('quiet', () => 1);
    return ${NATIVE};
  })`);
  expect(names).toEqual([]);
});
