/** Tabs and their tools in a real browser, through a shared worker and through a service worker. */

import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { answerOf, launch, open, tabIdOf } from './support/browser.js';
import { FakeDaemon } from './support/daemon.js';
import { Site } from './support/site.js';
import { ofType, SPY } from './support/spy.js';

let browser: Browser;
let site: Site;
let otherSite: Site;
let context: BrowserContext;
let daemon: FakeDaemon;

beforeAll(async () => {
  browser = await launch();
  site = await Site.start();
  otherSite = await Site.start(undefined, '127.0.0.1');
});
afterAll(async () => {
  await browser.close();
  await Promise.all([site.stop(), otherSite.stop()]);
});
beforeEach(async () => {
  daemon = await FakeDaemon.start();
  context = await browser.newContext();
  onTestFailed(() => console.log(daemon.log.slice(-30)));
});
afterEach(async () => {
  await context.close();
  await daemon.stop();
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each(['shared', 'service'])('with a %s worker', (worker) => {
  const app = (tools: string, more: object = {}, at = site): string => at.app({ tools, worker, daemon: daemon.url, ...more });

  // Spec: multi-tab 2, 4, 9, 47; page-proxy 24.
  test('a tab registers itself with a UUID, its url and its title', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    expect(tabId).toMatch(UUID);
    const { record, origin } = await daemon.tab(tabId, 'one');
    expect(record).toMatchObject({ tabId, url: page.url(), title: 'An application' });
    expect(record.documentId).toMatch(UUID);
    expect(Math.abs(record.lastSeen - Date.now())).toBeLessThan(60_000);
    expect(origin).toBe(site.origin);
    expect(daemon.log[0]).toMatchObject({ type: 'HELLO', version: 1, worker });
  });

  // Spec: page-proxy 1, 3, 4, 11.
  test('a handler runs in its page, with the DOM and its closures', async () => {
    const tabId = await open(await context.newPage(), app('one'));
    await daemon.tab(tabId, 'one');
    const answer = answerOf(await daemon.call(tabId, 'one', { deep: [1, { two: null }] }));
    expect(answer).toEqual({ tab: tabId, args: { deep: [1, { two: null }] }, heading: 'An application', closure: 'a closure' });
  });

  // Spec: multi-tab 1, 35, 74; page-proxy 18, 22, 23.
  test('each call runs once, in its own tab, also when many run at the same time', async () => {
    const pages = [await context.newPage(), await context.newPage(), await context.newPage()];
    const tabs: string[] = [];
    for (const page of pages) tabs.push(await open(page, app('one,two', { script: SPY })));
    expect(new Set(tabs).size).toBe(3);
    for (const tab of tabs) await daemon.tab(tab, 'one', 'two');
    expect(daemon.sockets.size).toBe(1);
    const calls = Array.from({ length: 30 }, (_, n) => ({ n, tab: tabs[n % 3] ?? '' }));
    const answers = await Promise.all(calls.map(({ n, tab }) => daemon.call(tab, n % 2 ? 'one' : 'two', { n })));
    expect(answers.map(answerOf)).toMatchObject(calls.map(({ n, tab }) => ({ tab, args: { n } })));
    const callIds: string[] = [];
    for (const [at, page] of pages.entries()) {
      expect(await page.evaluate('runs')).toBe(10);
      const heard = await page.evaluate<{ callId: string }[]>(ofType('heard', 'CALL_TOOL'));
      const said = await page.evaluate<object[]>(ofType('said', 'TOOL_CALL_RESULT'));
      const own = calls.filter(({ tab }) => tab === tabs[at]);
      // Spec: page-proxy 5, 17.
      expect(heard).toEqual(
        own.map(({ n, tab }) => ({ type: 'CALL_TOOL', callId: expect.any(String), targetTabId: tab, toolName: n % 2 ? 'one' : 'two', args: { n } })),
      );
      // Spec: page-proxy 6, 19.
      expect(said).toEqual(
        heard.map(({ callId }) => ({ type: 'TOOL_CALL_RESULT', callId, success: true, result: { content: [expect.anything()] } })),
      );
      callIds.push(...heard.map(({ callId }) => callId));
    }
    // Spec: page-proxy 14.
    expect(new Set(callIds).size).toBe(30);
    expect(daemon.count('TOOL_CALL_RESULT')).toBe(30);
  });

  // Spec: page-proxy 10, 39.
  test('what the page has no handler for is not run, and is answered with what is wrong', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one', { script: SPY }));
    const tool = { type: 'REGISTER_TOOL', tabId, description: '', inputSchema: { type: 'object' }, webMcp: false };
    await page.evaluate(`port.postMessage(${JSON.stringify({ ...tool, name: 'coded', handlerType: 'code', requestId: 'coded' })})`);
    await page.evaluate(`port.postMessage(${JSON.stringify({ ...tool, name: 'empty', handlerType: 'proxy', requestId: 'empty' })})`);
    await daemon.tab(tabId, 'one', 'empty');
    await page.waitForFunction("heard.some(({ requestId }) => requestId === 'empty')");
    expect(await page.evaluate("heard.find(({ requestId }) => requestId === 'coded')")).toEqual({
      type: 'DONE',
      requestId: 'coded',
      error: "Unsupported handlerType 'code'; use 'proxy'.",
    });
    expect(await daemon.call(tabId, 'coded')).toEqual({ success: false, code: 'no_tool', error: "The tab has no tool 'coded'." });
    expect(await daemon.call(tabId, 'empty')).toEqual({ success: false, code: 'failed', error: "This page has no tool 'empty'." });
    expect(await page.evaluate('runs')).toBe(0);
  });

  // Spec: multi-tab 24, 42, 43; page-proxy 24.
  test('refresh and navigation keep the id; the tools are those of the new page', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    const { record: first } = await daemon.tab(tabId, 'one');
    await page.reload();
    expect(await tabIdOf(page)).toBe(tabId);
    await daemon.until(() => daemon.tabs.get(tabId)?.record.documentId !== first.documentId);
    await daemon.tab(tabId, 'one');
    expect(await open(page, app('two', { path: '/settings' }))).toBe(tabId);
    const { record } = await daemon.tab(tabId, 'two');
    expect(record.url).toContain('/settings');
    const stale = await daemon.call(tabId, 'two', {}, first.documentId);
    expect(stale).toMatchObject({ success: false, code: 'no_tool' });
  });

  // Spec: multi-tab 44, 45.
  test('a child of window.open has an id of its own, and its parent keeps its tools', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await daemon.tab(tabId, 'one');
    const opening = page.waitForEvent('popup');
    await page.evaluate((url) => void window.open(url), app('one'));
    const child = await opening;
    const childId = await tabIdOf(child);
    expect(childId).not.toBe(tabId);
    await daemon.tab(childId, 'one');
    await child.reload();
    expect(await tabIdOf(child)).toBe(childId);
    await daemon.tab(childId, 'one');
    await child.close();
    await daemon.until(() => !daemon.tabs.has(childId));
    expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
  });

  // Spec: multi-tab 7, 10.
  test('a closed tab leaves at once, and the others stay', async () => {
    const [a, b] = [await context.newPage(), await context.newPage()];
    const [tabA, tabB] = [await open(a, app('one')), await open(b, app('one'))];
    await daemon.tab(tabA, 'one');
    await daemon.tab(tabB, 'one');
    await a.close();
    await daemon.until(() => !daemon.tabs.has(tabA));
    expect(answerOf(await daemon.call(tabB, 'one'))).toMatchObject({ tab: tabB });
  });

  // Spec: multi-tab 10.
  test('a crashed tab leaves at once, its running call is answered, and the others stay', async () => {
    // The worker lives in the process of the first tab, and the second has one of its own.
    const [a, b] = [await context.newPage(), await context.newPage()];
    const [tabA, tabB] = [await open(a, app('one')), await open(b, app('one'))];
    await b.evaluate("workerClient.registerTool('stuck', () => new Promise(() => {}))");
    await daemon.tab(tabB, 'one', 'stuck');
    const { outcome } = daemon.begin(tabB, 'stuck');
    const crashed = b.waitForEvent('crash');
    void b.goto('chrome://crash').catch(() => {});
    await crashed;
    await daemon.until(() => !daemon.tabs.has(tabB));
    expect(await outcome).toMatchObject({ success: false, code: 'gone' });
    await daemon.tab(tabA, 'one');
    expect(answerOf(await daemon.call(tabA, 'one'))).toMatchObject({ tab: tabA });
  });

  test('two applications on two origins have each their connection and their tabs', async () => {
    const [a, b] = [await context.newPage(), await context.newPage()];
    const [tabA, tabB] = [await open(a, app('one')), await open(b, app('one', {}, otherSite))];
    const knownA = await daemon.tab(tabA, 'one');
    const knownB = await daemon.tab(tabB, 'one');
    expect([knownA.origin, knownB.origin]).toEqual([site.origin, otherSite.origin]);
    expect(daemon.sockets.size).toBe(2);
    expect(answerOf(await daemon.call(tabB, 'one'))).toMatchObject({ tab: tabB });
    expect(await a.evaluate('runs')).toBe(0);
  });

  // Spec: page-proxy 33.
  test('a daemon that comes back is told everything again', async () => {
    const [a, b] = [await context.newPage(), await context.newPage()];
    const [tabA, tabB] = [await open(a, app('one')), await open(b, app('one,two'))];
    await daemon.tab(tabA, 'one');
    await daemon.tab(tabB, 'one', 'two');
    const { port } = daemon;
    const isConnected = 'workerClient.getConnectionStatus().connected';
    await a.waitForFunction(isConnected);
    await daemon.stop();
    await a.waitForFunction(`!${isConnected}`);
    expect(await a.evaluate('workerClient.getConnectionStatus().reason')).toContain('No daemon answers');
    await a.evaluate("workerClient.registerTool('late', () => 'while away')");
    daemon = await FakeDaemon.start(port);
    await daemon.tab(tabB, 'one', 'two');
    await daemon.tab(tabA, 'one', 'late');
    expect(await daemon.call(tabA, 'late')).toEqual({ success: true, result: { content: [{ type: 'text', text: 'while away' }] } });
  });

  test('changes of title and address are told', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await daemon.tab(tabId, 'one');
    await page.evaluate("document.title = 'Another title'");
    await daemon.until(() => daemon.tabs.get(tabId)?.record.title === 'Another title');
    await page.evaluate("history.pushState({}, '', '/settings')");
    await daemon.until(() => daemon.tabs.get(tabId)?.record.url.endsWith('/settings'));
    await daemon.tab(tabId, 'one');
  });

  test('back and forward keep the id and bring the tools back', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await daemon.tab(tabId, 'one');
    await open(page, app('two', { path: '/settings' }));
    await daemon.tab(tabId, 'two');
    await page.goBack();
    await daemon.tab(tabId, 'one');
    await page.goForward();
    await daemon.tab(tabId, 'two');
    expect(answerOf(await daemon.call(tabId, 'two'))).toMatchObject({ tab: tabId });
  });

  test('a tab that leaves for another site is gone, and is itself again when it comes back', async () => {
    const page = await context.newPage();
    const tabId = await open(page, app('one'));
    await daemon.tab(tabId, 'one');
    await open(page, app('two', {}, otherSite));
    await daemon.until(() => !daemon.tabs.has(tabId));
    expect(await open(page, app('one'))).toBe(tabId);
    await daemon.tab(tabId, 'one');
  });

  // Spec: multi-tab 43.
  test('a page that only asks for the id, or is left while it starts, hands the id on', async () => {
    const page = await context.newPage();
    await page.goto(`${site.origin}/tabmux/index.js`);
    const tabId = await page.evaluate("import('/tabmux/index.js').then(({ workerClient }) => workerClient.getTabId())");
    await page.goto(`${site.origin}/tabmux/index.js?again`);
    await page.evaluate(`import('/tabmux/index.js').then(({ workerClient }) => void workerClient.init({ daemonUrl: '${daemon.url}' }))`);
    expect(await open(page, app('one'))).toBe(tabId);
    await daemon.tab(String(tabId), 'one');
  });
});

test('a service worker that the application has stays where it is', async () => {
  const page = await context.newPage();
  await page.goto(`${site.origin}/tabmux/index.js`);
  await page.evaluate("navigator.serviceWorker.register('/tabmux/worker.js?own')");
  const tabId = await open(page, site.app({ tools: 'one', worker: 'service', daemon: daemon.url }));
  await daemon.tab(tabId, 'one');
  const own = await page.evaluate(
    "navigator.serviceWorker.getRegistration('/tabmux/').then(({ active, waiting, installing }) => [active, waiting, installing].map((it) => it?.scriptURL))",
  );
  expect(own).toEqual([`${site.origin}/tabmux/worker.js?own`, undefined, undefined]);
});
