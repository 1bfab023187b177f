/** The life of tabs as their users cause it: focus, duplicates, crashes, the back/forward cache, blocked storage. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { answerOf } from './support/browser.js';
import { FakeDaemon } from './support/daemon.js';
import { RawBrowser } from './support/raw-browser.js';
import { Site } from './support/site.js';

let site: Site;
let otherSite: Site;
let daemon: FakeDaemon;
let browser: RawBrowser;

beforeAll(async () => {
  site = await Site.start();
  otherSite = await Site.start(undefined, '127.0.0.1');
});
afterAll(() => Promise.all([site.stop(), otherSite.stop()]));
beforeEach(async () => {
  daemon = await FakeDaemon.start();
  onTestFailed(() => console.log(daemon.log.slice(-30)));
});
afterEach(() => daemon.stop());

const app = (tools: string, more: object = {}): string => site.app({ tools, daemon: daemon.url, ...more });

describe('in a usual browser', () => {
  beforeAll(async () => {
    browser = await RawBrowser.start({ withExtension: true });
  });
  afterAll(() => browser.stop());

  // Spec: multi-tab 5, 6, 29, 78; page-proxy 25.
  test.each(['shared', 'service'])('the active tab is the one in front, and none when that is hidden or closed, with a %s worker', async (worker) => {
    const url = app('one', { worker });
    const a = await browser.newTab(url);
    const tabA = await a.tabId();
    await daemon.until(() => daemon.active === tabA);
    expect(await a.evaluate('workerClient.getTabInfo()')).toEqual({ tabId: tabA, isActive: true, url, title: 'An application' });
    const b = await browser.newTab(url);
    const tabB = await b.tabId();
    await daemon.until(() => daemon.active === tabB);
    await a.activate();
    await daemon.until(() => daemon.active === tabA && !daemon.tabs.get(tabB)?.record.visible);
    expect(await a.evaluate('workerClient.getTabInfo().isActive')).toBe(true);
    expect(await b.evaluate('workerClient.getTabInfo().isActive')).toBe(false);
    expect(answerOf(await daemon.call(tabB, 'one'))).toMatchObject({ tab: tabB });
    expect(daemon.active).toBe(tabA);
    const c = await browser.newTab(`${otherSite.origin}/tabmux/index.js`);
    await daemon.until(() => daemon.active === null);
    await b.activate();
    await daemon.until(() => daemon.active === tabB);
    await b.close();
    await daemon.until(() => !daemon.tabs.has(tabB) && daemon.active !== tabB);
    expect(daemon.log[0]).toMatchObject({ type: 'HELLO', worker });
    await Promise.all([a.close(), c.close()]);
  });

  // Spec: multi-tab 44.
  test.each(['shared', 'service', 'dedicated'])('a duplicated tab has an id of its own, with a %s worker', async (worker) => {
    const first = await browser.newTab(app('one', { worker }));
    const tabId = await first.tabId();
    await daemon.tab(tabId, 'one');
    const copy = await browser.duplicateFront();
    const copyId = await copy.tabId();
    expect(copyId).not.toBe(tabId);
    await daemon.tab(copyId, 'one');
    await copy.reload();
    expect(await copy.tabId()).toBe(copyId);
    await first.reload();
    expect(await first.tabId()).toBe(tabId);
    await copy.close();
    await daemon.until(() => !daemon.tabs.has(copyId));
    await daemon.tab(tabId, 'one');
    await first.close();
  });

  // Spec: multi-tab 44.
  test.each(['shared', 'service'])('tabs that were duplicated elsewhere and come back have each their id, with a %s worker', async (worker) => {
    const first = await browser.newTab(app('one', { worker }));
    const tabId = await first.tabId();
    await first.go(`${otherSite.origin}/tabmux/index.js`);
    const copy = await browser.duplicateFront();
    await first.go(app('one', { worker }));
    expect(await first.tabId()).toBe(tabId);
    await daemon.tab(tabId, 'one');
    await copy.go(app('one', { worker }));
    const copyId = await copy.tabId();
    expect(copyId).not.toBe(tabId);
    await daemon.tab(copyId, 'one');
    await daemon.tab(tabId, 'one');
    await Promise.all([first.close(), copy.close()]);
  });

  // Spec: multi-tab 42.
  test('a tab that crashed is itself again after a refresh', async () => {
    const tab = await browser.newTab(app('one'));
    const tabId = await tab.tabId();
    await daemon.tab(tabId, 'one');
    await tab.crash();
    await daemon.until(() => !daemon.tabs.has(tabId));
    await tab.reload();
    expect(await tab.tabId()).toBe(tabId);
    await daemon.tab(tabId, 'one');
    await tab.close();
  });

  test.each(['shared', 'service', 'dedicated'])('a page from the back/forward cache offers its tools again, with a %s worker', async (worker) => {
    const tab = await browser.newTab(app('one', { worker }));
    const tabId = await tab.tabId();
    const { record } = await daemon.tab(tabId, 'one');
    await tab.evaluate('document.isTheSame = true');
    await tab.go(app('two', { worker, path: '/two' }));
    await daemon.tab(tabId, 'two');
    await tab.back();
    const again = await daemon.tab(tabId, 'one');
    // The library does not keep pages out of the cache.
    expect(await tab.evaluate('document.isTheSame')).toBe(true);
    expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
    // What was sent before it left has been sent elsewhere since.
    expect(again.record.documentId).not.toBe(record.documentId);
    expect(await daemon.call(tabId, 'one', {}, record.documentId)).toMatchObject({ success: false, code: 'no_tool' });
    await tab.close();
  });
});

describe('where storage is blocked', () => {
  beforeAll(async () => {
    browser = await RawBrowser.start({ preferences: { profile: { default_content_setting_values: { cookies: 2 } } } });
  });
  afterAll(() => browser.stop());

  // Spec: multi-tab 48, 66.
  test('a tab has a fallback id, which changes on refresh, and works', async () => {
    const tab = await browser.newTab(app('one'));
    const tabId = await tab.tabId();
    expect(tabId).toMatch(/^fallback_\d{13}_[a-z0-9]+$/);
    await daemon.tab(tabId, 'one');
    expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
    await tab.reload();
    const next = await tab.tabId();
    expect(next).toMatch(/^fallback_/);
    expect(next).not.toBe(tabId);
    await daemon.until(() => !daemon.tabs.has(tabId));
    await daemon.tab(next, 'one');
    // Browsers that block storage allow only workers that share nothing.
    expect(await tab.evaluate('workerClient.getConnectionStatus().worker')).toBe('dedicated');
  });
});
