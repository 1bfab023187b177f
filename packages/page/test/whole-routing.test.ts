/** Where calls go: real tabs of real applications, the user before them, and an agent. Needs a built tabmux. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AppTab, Desk } from './support/desk.js';

let desk: Desk;

beforeAll(async () => {
  desk = await Desk.start();
});
afterAll(() => desk.stop());
afterEach(() => desk.end());

describe.each(['shared', 'service'])('with a %s worker', (worker) => {
  beforeEach(() => desk.begin(worker));

  // Spec: multi-tab 14, 18, 19.
  test('a tool that one tab has runs there, in front or not', async () => {
    const [a, b] = [await desk.open('toolX'), await desk.open('other')];
    await desk.front(a);
    expect(await desk.whoRuns('toolX')).toBe(a.id);
    await desk.front(b);
    expect(await desk.whoRuns('toolX')).toBe(a.id);
    await desk.leave();
    expect(await desk.whoRuns('toolX')).toBe(a.id);
  });

  // Spec: multi-tab 15, 20, 21, 36, 64; page-proxy 26.
  test('of several tabs with a tool, the one in front runs it', async () => {
    const [a, b] = [await desk.open('toolX'), await desk.open('toolX')];
    for (const tab of [a, b, a]) {
      await desk.front(tab);
      expect(await desk.call('toolX', { n: 1 })).toMatchObject({ tab: tab.id, args: { n: 1 } });
    }
    expect([await desk.runs(a), await desk.runs(b)]).toEqual([2, 1]);
  });

  // Spec: multi-tab 12, 16.
  test('if the tab in front lacks the tool, the first that has it runs it', async () => {
    const [a, b, c] = [await desk.open('other'), await desk.open('toolX'), await desk.open('toolX')];
    await desk.front(a);
    expect(await desk.whoRuns('toolX')).toBe(b.id);
    expect([await desk.runs(a), await desk.runs(b), await desk.runs(c)]).toEqual([0, 1, 0]);
  });

  // Spec: multi-tab 17, 52.
  test('if no tab is in front, the first that has the tool runs it, and the log warns', async () => {
    const [a, b] = [await desk.open('toolX'), await desk.open('toolX')];
    const warnings = (): string[] => desk.tabmux.log.split('\n').filter((line) => line.includes('WARN') && line.includes('no tab is in front'));
    expect(await desk.whoRuns('toolX')).toBe(b.id);
    expect(warnings()).toEqual([]);
    await desk.leave();
    expect(await desk.whoRuns('toolX')).toBe(a.id);
    await desk.until(() => expect(warnings()).toHaveLength(1));
    expect(warnings()[0]).toContain('toolX');
  });

  // Spec: multi-tab 79.
  test('the first is the one that registered the tool first, not the one that was opened first', async () => {
    const [a, b] = [await desk.open(''), await desk.open('toolX')];
    const offer = "workerClient.registerTool('toolX', async () => ({ tab: workerClient.getTabId() }))";
    await a.tab.evaluate(offer);
    await desk.has(a.id, 'toolX');
    await desk.leave();
    expect(await desk.whoRuns('toolX')).toBe(b.id);
    await b.tab.evaluate("workerClient.unregisterTool('toolX')");
    await desk.has(b.id, '');
    await b.tab.evaluate(offer);
    await desk.has(b.id, 'toolX');
    expect(await desk.whoRuns('toolX')).toBe(a.id);
  });

  // Spec: multi-tab 13, 22, 34.
  test('a tab that is named runs the tool behind the one that the user works in, who notices nothing', async () => {
    const [a, b] = [await desk.open('toolX'), await desk.open('toolX')];
    await desk.front(a);
    const events = ['blur', 'focus', 'visibilitychange'];
    await a.tab.evaluate(`window.events = []; for (const name of ${JSON.stringify(events)}) addEventListener(name, () => events.push(name), true)`);
    expect(await desk.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    expect(await desk.whoRuns('toolX', { tabId: a.id })).toBe(a.id);
    expect(await desk.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    expect(await a.tab.evaluate('[document.visibilityState, ...events]')).toEqual(['visible']);
    expect(await b.tab.evaluate('document.visibilityState')).toBe('hidden');
    expect(await desk.rows()).toMatchObject([
      { tabId: a.id, isActive: true },
      { tabId: b.id, isActive: false },
    ]);
  });

  // Spec: multi-tab 36, 37, 77.
  test('with a window on each of three screens, two are named, and what names none goes to the one in front', async () => {
    const tools = 'get_metrics,update_settings,show_alert';
    const open = (path: string): Promise<AppTab> => desk.open(tools, { path, newWindow: true });
    const [analytics, settings, dashboard] = [await open('/analytics'), await open('/settings'), await open('/dashboard')];
    expect(await desk.whoRuns('get_metrics', { tabId: analytics.id })).toBe(analytics.id);
    expect(await desk.whoRuns('update_settings', { tabId: settings.id })).toBe(settings.id);
    expect(await desk.whoRuns('show_alert')).toBe(dashboard.id);
    for (const { tab } of [analytics, settings, dashboard]) expect(await tab.evaluate('document.visibilityState')).toBe('visible');
    await desk.raise(settings);
    expect(await desk.whoRuns('show_alert', { tabId: analytics.id })).toBe(analytics.id);
    expect(await desk.whoRuns('show_alert')).toBe(settings.id);
  });

  // Spec: multi-tab 23, 24.
  test('when the tab in front goes to a page without the tool, the next call runs in another', async () => {
    const [a, b, c] = [await desk.open('toolX'), await desk.open('toolX'), await desk.open('toolX')];
    await desk.front(a);
    expect(await desk.whoRuns('toolX')).toBe(a.id);
    await a.tab.go(desk.url('other', { path: '/settings' }));
    await desk.has(a.id, 'other');
    expect(await desk.whoRuns('toolX')).toBe(b.id);
    await c.tab.close();
    await desk.until(async () => expect(await desk.rows()).toHaveLength(2));
    expect(await desk.whoRuns('toolX')).toBe(b.id);
    expect(await desk.row(a.id)).toMatchObject({ isActive: true });
  });

  // Spec: multi-tab 23.
  test('a call that is made while the tab in front goes to a page without the tool runs once, in whichever has it', async () => {
    const [a, b] = [await desk.open('toolX'), await desk.open('toolX')];
    let runsOfOther = 0;
    for (let round = 0; round < 8; round += 1) {
      await desk.front(a);
      const [tab] = await Promise.all([desk.whoRuns('toolX'), a.tab.go(desk.url('other'))]);
      expect([a.id, b.id]).toContain(tab);
      if (tab === b.id) runsOfOther += 1;
      await desk.has(a.id, 'other');
      await a.tab.go(desk.url('toolX'));
      await desk.has(a.id, 'toolX');
      expect(await desk.runs(b)).toBe(runsOfOther);
    }
  });

  // Spec: multi-tab 49, 50, 51.
  test('a tab that is not there, or has no such tool, is an error that says which tabs have it, and nothing runs', async () => {
    const tabs = [await desk.open('get_page_info,get_tool_a'), await desk.open('get_page_info,get_tool_b')] as const;
    const [a, b] = tabs;
    expect(await desk.tabmux.call('get_page_info', { tabId: 'invalid-id' })).toEqual({
      isError: true,
      text: `Tool 'get_page_info' not available in tab 'invalid-id'. Available tabs: ${a.id}, ${b.id}`,
    });
    expect(await desk.tabmux.call('get_tool_b', { tabId: a.id })).toEqual({
      isError: true,
      text: `Tool 'get_tool_b' not available in tab '${a.id}'. Available tabs: ${b.id}`,
    });
    for (const tab of tabs) expect(await desk.runs(tab)).toBe(0);
    expect(await desk.whoRuns('get_tool_b', { tabId: b.id })).toBe(b.id);
  });

  // Spec: multi-tab 1, 15, 50.
  test('the tools of two applications on two origins do not mix', async () => {
    const [a, b] = [await desk.open('one,ours'), await desk.open('one,theirs', { at: desk.otherSite })];
    expect((await desk.rows()).map(({ tabId, url }) => [tabId, new URL(url).origin])).toEqual([
      [a.id, desk.site.origin],
      [b.id, desk.otherSite.origin],
    ]);
    for (const tab of [a, b, a]) {
      await desk.front(tab);
      expect(await desk.whoRuns('one')).toBe(tab.id);
      expect(await desk.whoRuns('ours')).toBe(a.id);
      expect(await desk.whoRuns('theirs')).toBe(b.id);
      expect((await desk.rows()).filter(({ isActive }) => isActive)).toMatchObject([{ tabId: tab.id }]);
    }
    expect((await desk.tabmux.call('ours', { tabId: b.id })).text).toBe(`Tool 'ours' not available in tab '${b.id}'. Available tabs: ${a.id}`);
    expect([await desk.runs(a), await desk.runs(b)]).toEqual([5, 4]);
    await b.tab.close();
    await desk.until(async () => expect((await desk.tabmux.tools()).has('theirs')).toBe(false));
    expect(await desk.whoRuns('one')).toBe(a.id);
  });
});

describe.each(['shared', 'service'])('in the hybrid order, with a %s worker', (worker) => {
  beforeEach(() => desk.begin(worker, '--routing=hybrid'));

  // Spec: page-proxy 27, 28, 29, 30.
  test('the tab that is named, else the one in front, else the first', async () => {
    const [a, b, c] = [await desk.open('toolX'), await desk.open('toolX'), await desk.open('only')];
    const lacking = (tab: string) => ({ isError: true, text: `Tool 'toolX' not available in tab '${tab}'. Available tabs: ${a.id}, ${b.id}` });
    // The one in front is meant, even if it lacks the tool.
    expect(await desk.tabmux.call('toolX')).toEqual(lacking(c.id));
    expect(await desk.whoRuns('toolX', { tabId: b.id })).toBe(b.id);
    for (const tab of [a, b]) {
      await desk.front(tab);
      expect(await desk.whoRuns('toolX')).toBe(tab.id);
      expect(await desk.whoRuns('toolX', { tabId: a.id })).toBe(a.id);
    }
    expect((await desk.tabmux.call('only')).text).toBe(`Tool 'only' not available in tab '${b.id}'. Available tabs: ${c.id}`);
    await desk.leave();
    expect(await desk.whoRuns('toolX')).toBe(a.id);
    expect(await desk.tabmux.call('toolX', { tabId: 'invalid-id' })).toEqual(lacking('invalid-id'));
  });
});
