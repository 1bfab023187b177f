/** Where calls go: real tabs of real applications, the user before them, and an agent. Needs a built tabmux. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AppTab, LibraryHarness } from './support/library-harness.js';

let harness: LibraryHarness;

beforeAll(async () => {
  harness = await LibraryHarness.start();
});
afterAll(() => harness.stop());
afterEach(() => harness.end());

describe.each(['shared', 'service'])('with a %s worker', (worker) => {
  beforeEach(() => harness.begin(worker));

  // Spec: multi-tab 14, 18, 19.
  test('a tool that one tab has runs there, in front or not', async () => {
    const [a, b] = [await harness.open('toolX'), await harness.open('other')];
    await harness.front(a);
    expect(await harness.whoRuns('toolX')).toBe(a.id);
    await harness.front(b);
    expect(await harness.whoRuns('toolX')).toBe(a.id);
    await harness.leave();
    expect(await harness.whoRuns('toolX')).toBe(a.id);
  });

  // Spec: multi-tab 15, 20, 21, 36, 64; page-proxy 26.
  test('of several tabs with a tool, the one in front runs it', async () => {
    const [a, b] = [await harness.open('toolX'), await harness.open('toolX')];
    for (const tab of [a, b, a]) {
      await harness.front(tab);
      expect(await harness.call('toolX', { n: 1 })).toMatchObject({ tab: tab.id, args: { n: 1 } });
    }
    expect([await harness.runs(a), await harness.runs(b)]).toEqual([2, 1]);
  });

  // Spec: multi-tab 12, 16.
  test('if the tab in front lacks the tool, the first that has it runs it', async () => {
    const [a, b, c] = [await harness.open('other'), await harness.open('toolX'), await harness.open('toolX')];
    await harness.front(a);
    expect(await harness.whoRuns('toolX')).toBe(b.id);
    expect([await harness.runs(a), await harness.runs(b), await harness.runs(c)]).toEqual([0, 1, 0]);
  });

  // Spec: multi-tab 17, 52.
  test('if no tab is in front, the first that has the tool runs it, and the log warns', async () => {
    const [a, b] = [await harness.open('toolX'), await harness.open('toolX')];
    const warnings = (): string[] => harness.tabmux.log.split('\n').filter((line) => line.includes('WARN') && line.includes('no tab is in front'));
    expect(await harness.whoRuns('toolX')).toBe(b.id);
    expect(warnings()).toEqual([]);
    await harness.leave();
    expect(await harness.whoRuns('toolX')).toBe(a.id);
    await harness.until(() => expect(warnings()).toHaveLength(1));
    expect(warnings()[0]).toContain('toolX');
  });

  // Spec: multi-tab 79.
  test('the first is the one that registered the tool first, not the one that was opened first', async () => {
    const [a, b] = [await harness.open(''), await harness.open('toolX')];
    const offer = "workerClient.registerTool('toolX', async () => ({ tab: workerClient.getTabId() }))";
    await a.tab.evaluate(offer);
    await harness.has(a.id, 'toolX');
    await harness.leave();
    expect(await harness.whoRuns('toolX')).toBe(b.id);
    await b.tab.evaluate("workerClient.unregisterTool('toolX')");
    await harness.has(b.id, '');
    await b.tab.evaluate(offer);
    await harness.has(b.id, 'toolX');
    expect(await harness.whoRuns('toolX')).toBe(a.id);
  });

  // Spec: multi-tab 13, 22, 34.
  test('a tab that is named runs the tool behind the one that the user works in, who notices nothing', async () => {
    const [a, b] = [await harness.open('toolX'), await harness.open('toolX')];
    await harness.front(a);
    const events = ['blur', 'focus', 'visibilitychange'];
    await a.tab.evaluate(`window.events = []; for (const name of ${JSON.stringify(events)}) addEventListener(name, () => events.push(name), true)`);
    expect(await harness.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    expect(await harness.whoRuns('toolX', { tabId: a.id })).toBe(a.id);
    expect(await harness.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    expect(await a.tab.evaluate('[document.visibilityState, ...events]')).toEqual(['visible']);
    expect(await b.tab.evaluate('document.visibilityState')).toBe('hidden');
    expect(await harness.rows()).toMatchObject([
      { tabId: a.id, isActive: true },
      { tabId: b.id, isActive: false },
    ]);
  });

  // Spec: multi-tab 36, 37, 77.
  test('with a window on each of three screens, two are named, and what names none goes to the one in front', async () => {
    const tools = 'get_metrics,update_settings,show_alert';
    const open = (path: string): Promise<AppTab> => harness.open(tools, { path, newWindow: true });
    const [analytics, settings, dashboard] = [await open('/analytics'), await open('/settings'), await open('/dashboard')];
    expect(await harness.whoRuns('get_metrics', { tabId: analytics.id })).toBe(analytics.id);
    expect(await harness.whoRuns('update_settings', { tabId: settings.id })).toBe(settings.id);
    expect(await harness.whoRuns('show_alert')).toBe(dashboard.id);
    for (const { tab } of [analytics, settings, dashboard]) expect(await tab.evaluate('document.visibilityState')).toBe('visible');
    await harness.raise(settings);
    expect(await harness.whoRuns('show_alert', { tabId: analytics.id })).toBe(analytics.id);
    expect(await harness.whoRuns('show_alert')).toBe(settings.id);
  });

  // Spec: multi-tab 23, 24.
  test('when the tab in front goes to a page without the tool, the next call runs in another', async () => {
    const [a, b, c] = [await harness.open('toolX'), await harness.open('toolX'), await harness.open('toolX')];
    await harness.front(a);
    expect(await harness.whoRuns('toolX')).toBe(a.id);
    await a.tab.go(harness.url('other', { path: '/settings' }));
    await harness.has(a.id, 'other');
    expect(await harness.whoRuns('toolX')).toBe(b.id);
    await c.tab.close();
    await harness.until(async () => expect(await harness.rows()).toHaveLength(2));
    expect(await harness.whoRuns('toolX')).toBe(b.id);
    expect(await harness.row(a.id)).toMatchObject({ isActive: true });
  });

  // Spec: multi-tab 23.
  test('a call that is made while the tab in front goes to a page without the tool runs once, in whichever has it', async () => {
    const [a, b] = [await harness.open('toolX'), await harness.open('toolX')];
    let runsOfOther = 0;
    for (let round = 0; round < 8; round += 1) {
      await harness.front(a);
      const [tab] = await Promise.all([harness.whoRuns('toolX'), a.tab.go(harness.url('other'))]);
      expect([a.id, b.id]).toContain(tab);
      if (tab === b.id) runsOfOther += 1;
      await harness.has(a.id, 'other');
      await a.tab.go(harness.url('toolX'));
      await harness.has(a.id, 'toolX');
      expect(await harness.runs(b)).toBe(runsOfOther);
    }
  });

  // Spec: multi-tab 49, 50, 51.
  test('a tab that is not there, or has no such tool, is an error that says which tabs have it, and nothing runs', async () => {
    const tabs = [await harness.open('get_page_info,get_tool_a'), await harness.open('get_page_info,get_tool_b')] as const;
    const [a, b] = tabs;
    expect(await harness.tabmux.call('get_page_info', { tabId: 'invalid-id' })).toEqual({
      isError: true,
      text: `Tool 'get_page_info' not available in tab 'invalid-id'. Available tabs: ${a.id}, ${b.id}`,
    });
    expect(await harness.tabmux.call('get_tool_b', { tabId: a.id })).toEqual({
      isError: true,
      text: `Tool 'get_tool_b' not available in tab '${a.id}'. Available tabs: ${b.id}`,
    });
    for (const tab of tabs) expect(await harness.runs(tab)).toBe(0);
    expect(await harness.whoRuns('get_tool_b', { tabId: b.id })).toBe(b.id);
  });

  // Spec: multi-tab 1, 15, 50.
  test('the tools of two applications on two origins do not mix', async () => {
    const [a, b] = [await harness.open('one,ours'), await harness.open('one,theirs', { at: harness.otherSite })];
    expect((await harness.rows()).map(({ tabId, url }) => [tabId, new URL(url).origin])).toEqual([
      [a.id, harness.site.origin],
      [b.id, harness.otherSite.origin],
    ]);
    for (const tab of [a, b, a]) {
      await harness.front(tab);
      expect(await harness.whoRuns('one')).toBe(tab.id);
      expect(await harness.whoRuns('ours')).toBe(a.id);
      expect(await harness.whoRuns('theirs')).toBe(b.id);
      expect((await harness.rows()).filter(({ isActive }) => isActive)).toMatchObject([{ tabId: tab.id }]);
    }
    expect((await harness.tabmux.call('ours', { tabId: b.id })).text).toBe(`Tool 'ours' not available in tab '${b.id}'. Available tabs: ${a.id}`);
    expect([await harness.runs(a), await harness.runs(b)]).toEqual([5, 4]);
    await b.tab.close();
    await harness.until(async () => expect((await harness.tabmux.tools()).has('theirs')).toBe(false));
    expect(await harness.whoRuns('one')).toBe(a.id);
  });
});

describe.each(['shared', 'service'])('in the hybrid order, with a %s worker', (worker) => {
  beforeEach(() => harness.begin(worker, '--routing=hybrid'));

  // Spec: page-proxy 27, 28, 29, 30.
  test('the tab that is named, else the one in front, else the first', async () => {
    const [a, b, c] = [await harness.open('toolX'), await harness.open('toolX'), await harness.open('only')];
    const lacking = (tab: string) => ({ isError: true, text: `Tool 'toolX' not available in tab '${tab}'. Available tabs: ${a.id}, ${b.id}` });
    // The one in front is meant, even if it lacks the tool.
    expect(await harness.tabmux.call('toolX')).toEqual(lacking(c.id));
    expect(await harness.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    for (const tab of [a, b]) {
      await harness.front(tab);
      expect(await harness.whoRuns('toolX')).toBe(tab.id);
      expect(await harness.whoRuns('toolX', { tabId: a.id })).toBe(a.id);
    }
    expect((await harness.tabmux.call('only')).text).toBe(`Tool 'only' not available in tab '${b.id}'. Available tabs: ${c.id}`);
    await harness.leave();
    expect(await harness.whoRuns('toolX')).toBe(a.id);
    expect(await harness.tabmux.call('toolX', { tabId: 'invalid-id' })).toEqual(lacking('invalid-id'));
  });
});
