/** What the agent sees of real tabs and their tools, and which messages a call causes. Needs a built tabmux. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isRecord } from '../src/json.js';
import { type AppTab, LibraryHarness } from './support/library-harness.js';
import type { RawTab } from './support/raw-browser.js';
import { ofType, SPY } from './support/spy.js';

let harness: LibraryHarness;

beforeAll(async () => {
  harness = await LibraryHarness.start();
});
afterAll(() => harness.stop());
afterEach(() => harness.end());

const TAB_ID = {
  type: 'string',
  description:
    'Optional: Target specific tab by ID. If not provided, uses the currently focused tab. Use list_browser_tabs to discover available tabs.',
};

describe.each(['shared', 'service'])('with a %s worker', (worker) => {
  beforeEach(() => harness.begin(worker));

  const countOf = async (name: string): Promise<number> => (await harness.tabmux.list()).filter((tool) => tool.name === name).length;

  // Spec: multi-tab 8, 38, 39, 40, 41, 67.
  test('a tool is listed once, from its first tab to its last, and only those two change the list', async () => {
    const before = harness.tabmux.changes;
    const a = await harness.open('one');
    await harness.until(() => expect(harness.tabmux.changes).toBe(before + 1));
    const [b, c] = [await harness.open('one'), await harness.open('one')];
    expect(await countOf('one')).toBe(1);
    await a.tab.evaluate("workerClient.unregisterTool('one')");
    await harness.has(a.id, '');
    expect(await countOf('one')).toBe(1);
    await b.tab.close();
    await harness.until(async () => expect(await harness.row(b.id)).toBeUndefined());
    expect(await countOf('one')).toBe(1);
    expect(await harness.whoRuns('one')).toBe(c.id);
    expect(harness.tabmux.changes).toBe(before + 1);
    await c.tab.close();
    await harness.until(() => expect(harness.tabmux.changes).toBe(before + 2));
    expect(await countOf('one')).toBe(0);
  });

  // Spec: multi-tab 11.
  test('a tool can be in several tabs, and a tab can have several tools', async () => {
    const [a, b] = [await harness.open('one,two'), await harness.open('one,three')];
    expect([await harness.toolsOf(a.id), await harness.toolsOf(b.id)]).toEqual([
      ['one', 'two'],
      ['one', 'three'],
    ]);
    for (const { id } of [a, b]) expect(await harness.whoRuns('one', { tabId: id })).toBe(id);
    expect([await harness.whoRuns('two'), await harness.whoRuns('three')]).toEqual([a.id, b.id]);
  });

  // Spec: multi-tab 25, 26, 27, 28, 29; page-proxy 32.
  test('the tabs are listed as they are at that moment', async () => {
    const lastSeen = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const row = ({ id, url }: AppTab, isActive: boolean) => ({ tabId: id, url, title: 'An application', isActive, lastSeen });
    expect(await harness.rows()).toEqual([]);
    const a = await harness.open('one');
    expect(await harness.rows()).toEqual([row(a, true)]);
    const b = await harness.open('one', { at: harness.otherSite });
    expect(await harness.rows()).toEqual([row(a, false), row(b, true)]);
    await harness.front(a);
    expect(await harness.rows()).toEqual([row(a, true), row(b, false)]);
    await b.tab.evaluate("document.title = 'Another title'; history.pushState({}, '', '/moved')");
    const moved = { ...row(b, false), title: 'Another title', url: `${harness.otherSite.origin}/moved` };
    await harness.until(async () => expect(await harness.rows()).toEqual([row(a, true), moved]));
    await harness.leave();
    expect(await harness.rows()).toEqual([row(a, false), moved]);
    await a.tab.close();
    await harness.until(async () => expect(await harness.rows()).toEqual([moved]));
  });

  // Spec: multi-tab 80.
  test('a tab is seen when it registers, when it gets the focus and when it is used', async () => {
    const seen = async ({ id }: AppTab): Promise<number> => Date.parse((await harness.row(id))?.lastSeen ?? '');
    const grows = async (act: () => Promise<unknown>): Promise<void> => {
      const last = await seen(a);
      await harness.until(() => expect(Date.now()).toBeGreaterThan(last));
      await act();
      await harness.until(async () => expect(await seen(a)).toBeGreaterThan(last));
    };
    const begun = Date.now();
    const a = await harness.open('one');
    expect(await seen(a)).toBeGreaterThanOrEqual(begun);
    const b = await harness.open('one');
    await grows(() => harness.front(a));
    await harness.front(b);
    await harness.until(async () => expect(await a.tab.evaluate('document.visibilityState')).toBe('hidden'));
    // What the tab said of being hidden has been heard when its answer comes.
    await harness.whoRuns('one', { tabId: a.id });
    await grows(() => harness.whoRuns('one', { tabId: a.id }));
    await grows(() => a.tab.reload());
  });

  // Spec: multi-tab 30, 31, 32, 33; page-proxy 31.
  test("a tool gets an optional tabId, and the author's schema stays as it is", async () => {
    const { id, tab } = await harness.open('');
    const own = { type: 'object', properties: { username: { type: 'string', minLength: 2 } }, required: ['username'], additionalProperties: false };
    const handler = 'async (args) => ({ tab: workerClient.getTabId(), args })';
    await tab.evaluate(
      `window.own = ${JSON.stringify(own)}; workerClient.registerTool('strict', 'Greets a user. NOTE: only of this tab.', own, ${handler})`,
    );
    await tab.evaluate(`window.none = {}; workerClient.registerTool('plain', 'Plain', none, ${handler})`);
    await harness.has(id, 'plain,strict');
    const tools = await harness.tabmux.tools();
    expect(tools.get('strict')?.inputSchema).toEqual({ ...own, properties: { ...own.properties, tabId: TAB_ID } });
    expect(tools.get('plain')?.inputSchema).toEqual({ type: 'object', properties: { tabId: TAB_ID } });
    // Spec: multi-tab 62.
    expect(tools.get('strict')?.description).toMatch(/^Greets a user\. NOTE: only of this tab\.\n/);
    expect(await tab.evaluate('[own, none]')).toEqual([own, {}]);
    // Neither is it the handler's business.
    expect(await harness.call('strict', { username: 'Ada', tabId: id })).toEqual({ tab: id, args: { username: 'Ada' } });
    expect(await harness.call('strict', { username: 'Ada' })).toEqual({ tab: id, args: { username: 'Ada' } });
    expect((await harness.tabmux.call('strict', { tabId: id })).isError).toBe(true);
  });

  // Spec: page-proxy 2, 5, 6, 7, 14, 17, 19, 20.
  test('every call has an id of its own, by which its answer finds its caller', async () => {
    const [a, b] = [await harness.open('', { script: SPY }), await harness.open('', { script: SPY })];
    // The first call is answered when the fourth is there, and not before the others. Tools that only read run at the same time.
    const offer = `window.waiting = []; workerClient.registerTool('later', (args) => new Promise((resolve) => {
      waiting.unshift(() => resolve({ tab: workerClient.getTabId(), args }));
      if (waiting.length === 4) for (const answer of waiting) answer();
    }), { annotations: { readOnlyHint: true } })`;
    for (const { id, tab } of [a, b]) {
      await tab.evaluate(offer);
      await harness.has(id, 'later');
    }
    const calls = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => ({ n, tab: n % 2 ? a : b }));
    // B is in front, so its calls need not name it.
    const answers = await Promise.all(calls.map(({ n, tab }) => harness.call('later', { n, ...(tab === a && { tabId: a.id }) })));
    expect(answers).toEqual(calls.map(({ n, tab }) => ({ tab: tab.id, args: { n } })));
    const callIds: unknown[] = [];
    for (const own of [a, b]) {
      const heard = await listOf(own.tab, ofType('heard', 'CALL_TOOL'));
      const said = await listOf(own.tab, ofType('said', 'TOOL_CALL_RESULT'));
      const its = calls.filter(({ tab }) => tab === own);
      const wanted = its.map(({ n }) => ({ type: 'CALL_TOOL', callId: expect.any(String), targetTabId: own.id, toolName: 'later', args: { n } }));
      expect(heard).toEqual(expect.arrayContaining(wanted));
      expect(heard).toHaveLength(4);
      expect(said).toEqual(
        expect.arrayContaining(
          heard.map(({ callId, args }) => ({
            type: 'TOOL_CALL_RESULT',
            callId,
            success: true,
            result: expect.objectContaining({ structuredContent: { tab: own.id, args } }),
          })),
        ),
      );
      expect(said).toHaveLength(4);
      expect(said[0]?.['callId']).not.toBe(heard[0]?.['callId']);
      callIds.push(...heard.map(({ callId }) => callId));
    }
    expect(callIds).toHaveLength(8);
    expect(new Set(callIds).size).toBe(8);
  });

  // Spec: multi-tab 56, 57; page-proxy 13.
  test('the controller in the worker is called by itself, for the tab, its tools and the focus', async () => {
    const a = await harness.open('one');
    const inside = await harness.browser.worker(worker, harness.site.origin);
    await inside.send('Profiler.enable');
    await inside.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const b = await harness.open('one,two');
    expect(await callsOf(inside, 'handleRegisterTab', 'handleRegisterTool')).toEqual([1, 2]);
    expect(await harness.toolsOf(b.id)).toEqual(['one', 'two']);
    await callsOf(inside);
    await harness.front(a);
    const [focused] = await callsOf(inside, 'handleSetActiveTab', 'handleRegisterTab');
    expect(focused).toBeGreaterThan(0);
    expect(await harness.rows()).toMatchObject([
      { tabId: a.id, isActive: true },
      { tabId: b.id, isActive: false },
    ]);
  });
});

async function listOf(tab: RawTab, expression: string): Promise<Record<string, unknown>[]> {
  const list = await tab.evaluate(expression);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** How often these methods ran in a worker since they were last counted. */
async function callsOf(worker: RawTab, ...names: string[]): Promise<number[]> {
  const { result } = (await worker.send('Profiler.takePreciseCoverage')) as unknown as {
    result: { functions: { functionName: string; ranges: { count: number }[] }[] }[];
  };
  const functions = result.flatMap((script) => script.functions);
  return names.map((name) => functions.find(({ functionName }) => functionName === name)?.ranges[0]?.count ?? 0);
}
