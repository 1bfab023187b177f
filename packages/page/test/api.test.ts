/** What an application does with the client, in a real browser. */

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { answerOf, launch, open, tabIdOf } from './support/browser.js';
import { FakeDaemon } from './support/daemon.js';
import { Site } from './support/site.js';

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
let daemon: FakeDaemon;

beforeAll(async () => {
  browser = await launch();
  site = await Site.start();
});
afterAll(() => Promise.all([browser.close(), site.stop()]));
beforeEach(async () => {
  daemon = await FakeDaemon.start();
  context = await browser.newContext();
  page = await context.newPage();
  onTestFailed(() => console.log(daemon.log.slice(-30)));
});
afterEach(async () => {
  await context.close();
  await daemon.stop();
});

const appWith =
  (worker: string) =>
  (tools = '', more: object = {}): string =>
    site.app({ tools, worker, daemon: daemon.url, ...more });
const app = appWith('auto');

describe.each(['shared', 'service'])('tools, with a %s worker', (worker) => {
  const app = appWith(worker);

  // Spec: multi-tab 58, 63; page-proxy 9.
  test('a tool is registered as its author describes it', async () => {
    const tabId = await open(page, app());
    await page.evaluate(`workerClient.registerTool('get_user', 'Get a user. NOTE: differs per tab.',
      { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      async ({ id }) => ({ content: [{ type: 'text', text: JSON.stringify({ id, name: 'Ada' }) }] }),
      { outputSchema: { type: 'object', properties: { name: { type: 'string' } } }, annotations: { readOnlyHint: true } })`);
    const { tools } = await daemon.tab(tabId, 'get_user');
    expect(tools.get('get_user')).toEqual({
      type: 'REGISTER_TOOL',
      tabId,
      name: 'get_user',
      description: 'Get a user. NOTE: differs per tab.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      outputSchema: { type: 'object', properties: { name: { type: 'string' } } },
      annotations: { readOnlyHint: true },
      handlerType: 'proxy',
      webMcp: false,
    });
    const text = '{"id":"7","name":"Ada"}';
    const result = { content: [{ type: 'text', text }], structuredContent: { id: '7', name: 'Ada' } };
    expect(await daemon.call(tabId, 'get_user', { id: '7' })).toEqual({ success: true, result });
  });

  // Spec: page-proxy 8.
  test('a handler is a function like any other: called directly, it says the same', async () => {
    const tabId = await open(page, app());
    const said = await page.evaluate(`window.greet = async ({ name }) => 'Hello ' + name;
      workerClient.registerTool('greet', greet).then(() => greet({ name: 'Ada' }))`);
    expect(said).toBe('Hello Ada');
    await daemon.tab(tabId, 'greet');
    const result = { content: [{ type: 'text', text: 'Hello Ada' }] };
    expect(await daemon.call(tabId, 'greet', { name: 'Ada' })).toEqual({ success: true, result });
  });

  // Spec: multi-tab 33, 81; page-proxy 35, 38.
  test("the short form and an empty schema are accepted, and the author's object stays as it is", async () => {
    const tabId = await open(page, app());
    await page.evaluate("window.schema = Object.freeze({}); workerClient.registerTool('long', 'Long', schema, () => 1)");
    await page.evaluate("workerClient.registerTool('short', async (args) => args.word)");
    const { tools } = await daemon.tab(tabId, 'long', 'short');
    for (const tool of tools.values()) expect(tool.inputSchema).toEqual({ type: 'object' });
    expect(tools.get('short')?.description).toBe('short');
    expect(await daemon.call(tabId, 'short', { word: 'hello' })).toEqual({ success: true, result: { content: [{ type: 'text', text: 'hello' }] } });
  });

  // Spec: multi-tab 81.
  test('tools registered before init are kept, and the promise of a later one means that the worker has it', async () => {
    await page.route('**/app?*', (route) => route.fulfill({ contentType: 'text/html', body: '<body>' }));
    await page.goto(app());
    const names = await page.evaluate(`import('/tabmux/index.js').then(async ({ workerClient }) => {
      window.workerClient = workerClient;
      await workerClient.registerTool('early', () => 'early');
      await workerClient.init({ daemonUrl: ${JSON.stringify(daemon.url)}, worker: '${worker}' });
      await workerClient.registerTool('late', () => 'late');
      return workerClient.getRegisteredTools().map((tool) => tool.name);
    })`);
    expect(names).toEqual(['early', 'late']);
    const tabId: string = await page.evaluate('workerClient.getTabId()');
    await daemon.tab(tabId, 'early', 'late');
  });

  // Spec: multi-tab 58.
  test('a tool can be replaced and taken back, and listeners hear of it', async () => {
    const tabId = await open(page, app());
    await page.evaluate('window.changes = []; window.stop = workerClient.onToolChange((names) => changes.push(names.join()))');
    await page.evaluate("workerClient.registerTool('one', () => 'first')");
    await page.evaluate("window.second = () => 'second'; workerClient.registerTool('one', second)");
    await daemon.tab(tabId, 'one');
    expect(await daemon.call(tabId, 'one')).toMatchObject({ result: { content: [{ text: 'second' }] } });
    expect(await page.evaluate("workerClient.unregisterTool('one', () => {})")).toBe(false);
    expect(await page.evaluate("workerClient.unregisterTool('one', second)")).toBe(true);
    expect(await page.evaluate("workerClient.unregisterTool('one')")).toBe(false);
    await daemon.tab(tabId);
    await page.evaluate("stop(); workerClient.registerTool('two', () => 'unheard')");
    expect(await page.evaluate('changes')).toEqual(['one', 'one', '']);
  });

  test('what cannot be a tool is refused with a sentence and changes nothing', async () => {
    await open(page, app());
    const cases = [
      ["registerTool('', () => 1)", 'cannot be the name of a tool'],
      ["registerTool('two words', () => 1)", 'cannot be the name of a tool'],
      ["registerTool('x'.repeat(129), () => 1)", 'cannot be the name of a tool'],
      ["registerTool('one', 'One', {}, 'not a function')", 'needs a function'],
      ["registerTool('one', 'One', [], () => 1)", "must be of type 'object'"],
      ["registerTool('one', 'One', { type: 'string' }, () => 1)", "must be of type 'object'"],
      ["registerTool('one', 'One', {}, () => 1, { outputSchema: { type: 'array' } })", "must be of type 'object'"],
    ];
    for (const [call, sentence] of cases) await expect(page.evaluate(`workerClient.${call}`)).rejects.toThrow(sentence);
    expect(await page.evaluate('workerClient.getRegisteredTools()')).toEqual([]);
  });
});

describe.each(['shared', 'service'])('calls, with a %s worker', (worker) => {
  const app = appWith(worker);

  test('a handler may return a result of MCP or a plain value', async () => {
    const tabId = await open(page, app());
    const cases: [string, object][] = [
      ['undefined', { content: [] }],
      ["'a text'", { content: [{ type: 'text', text: 'a text' }] }],
      ['42', { content: [{ type: 'text', text: '42' }] }],
      ['[1, 2]', { content: [{ type: 'text', text: '[1,2]' }] }],
      ['{ a: 1, f() {} }', { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
      ["{ content: [{ type: 'text', text: 'x' }], isError: true }", { content: [{ type: 'text', text: 'x' }], isError: true }],
    ];
    for (const [value, result] of cases) {
      await page.evaluate(`workerClient.registerTool('one', () => (${value}))`);
      await daemon.tab(tabId, 'one');
      expect(await daemon.call(tabId, 'one')).toEqual({ success: true, result });
    }
  });

  // Spec: page-proxy 12.
  test('a handler that throws, or returns what JSON cannot say, fails with the message', async () => {
    const tabId = await open(page, app());
    const cases = [
      ["() => { throw new TypeError('no such user') }", 'no such user'],
      ["async () => { throw 'a text' }", 'a text'],
      ['() => { const a = {}; a.a = a; return a }', 'circular'],
      ['() => 10n', 'BigInt'],
      ['() => { throw Object.create(null) }', 'It failed.'],
      ['() => { throw Object.assign(new Error(), { message: 7 }) }', '7'],
    ];
    for (const [handler, message] of cases) {
      await page.evaluate(`workerClient.registerTool('one', ${handler})`);
      await daemon.tab(tabId, 'one');
      expect(await daemon.call(tabId, 'one')).toMatchObject({ success: false, code: 'failed', error: expect.stringContaining(message ?? '') });
    }
  });

  test('a result of 5 MB arrives whole, and one over the limit is refused with a sentence', async () => {
    const tabId = await open(page, app());
    await page.evaluate("workerClient.registerTool('big', ({ size }) => 'é'.repeat(size))");
    await daemon.tab(tabId, 'big');
    const outcome = await daemon.call(tabId, 'big', { size: 5_000_000 });
    expect(outcome).toEqual({ success: true, result: { content: [{ type: 'text', text: 'é'.repeat(5_000_000) }] } });
    const refused = await daemon.call(tabId, 'big', { size: 9_000_000 });
    expect(refused).toMatchObject({
      success: false,
      code: 'too_large',
      error: "The result of 'big' has 9000002 characters and 8388608 are allowed; return less.",
    });
  });

  test('a result that is sent twice, as text and structured, has half the room', async () => {
    const tabId = await open(page, app());
    await page.evaluate("workerClient.registerTool('twice', ({ size }) => ({ text: 'é'.repeat(size) }), { outputSchema: { type: 'object' } })");
    await daemon.tab(tabId, 'twice');
    const refused = await daemon.call(tabId, 'twice', { size: 5_000_000 });
    expect(refused).toMatchObject({
      success: false,
      code: 'too_large',
      error: "The result of 'twice' has 5000011 characters and 4194304 are allowed; return less.",
    });
  });

  test('a handler learns that its call was cancelled', async () => {
    const tabId = await open(page, app());
    await page.evaluate(`workerClient.registerTool('wait', (_, { signal }) => new Promise((resolve) => {
      window.running = true;
      signal.addEventListener('abort', () => { window.cancelled = true; resolve('late'); });
    }))`);
    const tab = await daemon.tab(tabId, 'wait');
    const { callId, outcome } = daemon.begin(tabId, 'wait');
    await page.waitForFunction('window.running');
    tab.send({ type: 'CANCEL_CALL', callId });
    expect(await outcome).toMatchObject({ success: false, code: 'cancelled' });
    await page.waitForFunction('window.cancelled');
  });

  test('a call that is running when its page is left is answered', async () => {
    const tabId = await open(page, app());
    await page.evaluate("workerClient.registerTool('stuck', () => new Promise(() => (window.running = true)))");
    await daemon.tab(tabId, 'stuck');
    // A second tab keeps the worker alive, so that it can answer.
    await open(await context.newPage(), app());
    const { outcome } = daemon.begin(tabId, 'stuck');
    await page.waitForFunction('window.running');
    await page.goto('about:blank');
    expect(await outcome).toMatchObject({ success: false, code: 'gone' });
  });

  test('calls go on while the page has a dialog in another tab, and wait in the tab that has it', async () => {
    const tabId = await open(page, app('one'));
    const other = await context.newPage();
    const otherId = await open(other, app('one'));
    await daemon.tab(tabId, 'one');
    await daemon.tab(otherId, 'one');
    const opened = page.waitForEvent('dialog');
    const done = page.evaluate("alert('hello')");
    const dialog = await opened;
    const waiting = daemon.begin(tabId, 'one');
    expect(answerOf(await daemon.call(otherId, 'one'))).toMatchObject({ tab: otherId });
    await dialog.accept();
    await done;
    expect(answerOf(await waiting.outcome)).toMatchObject({ tab: tabId });
  });
});

describe.each(['shared', 'service'])('the tab, with a %s worker', (worker) => {
  const app = appWith(worker);

  // Spec: multi-tab 53, 54.
  test('getTabId and getTabInfo', async () => {
    const tabId = await open(page, app());
    await daemon.until(() => daemon.active === tabId);
    await page.waitForFunction('workerClient.getTabInfo().isActive');
    const info = await page.evaluate('workerClient.getTabInfo()');
    expect(info).toEqual({ tabId, isActive: true, url: page.url(), title: 'An application' });
  });

  // Spec: multi-tab 3, 55.
  test('the id is in sessionStorage, and clearTabId makes the next refresh take a new one', async () => {
    const tabId = await open(page, app('one'));
    expect(await page.evaluate("sessionStorage.getItem('tabmux_tab_id')")).toBe(tabId);
    await page.evaluate('WorkerClient.clearTabId()');
    expect(await page.evaluate('workerClient.getTabId()')).toBe(tabId);
    await page.reload();
    const next = await tabIdOf(page);
    expect(next).not.toBe(tabId);
    await daemon.tab(next, 'one');
  });

  // Spec: multi-tab 46.
  test('private sessions are apart', async () => {
    const tabId = await open(page, app('one'));
    const secret = await browser.newContext();
    const secretId = await open(await secret.newPage(), app('one'));
    expect(secretId).not.toBe(tabId);
    await daemon.tab(secretId, 'one');
    expect(daemon.sockets.size).toBe(2);
    await secret.close();
  });

  test('frames are tabs of their own and leave the id of their tab alone', async () => {
    const tabId = await open(page, app('one'));
    await page.evaluate((url) => {
      const frame = document.createElement('iframe');
      frame.src = url;
      document.body.append(frame);
    }, app('two'));
    await daemon.until(() => daemon.tabs.size === 2);
    const [, frameId = ''] = [...daemon.tabs.keys()];
    await daemon.tab(frameId, 'two');
    await page.reload();
    expect(await tabIdOf(page)).toBe(tabId);
    await daemon.until(() => daemon.tabs.size === 1);
  });

  // Spec: multi-tab 48.
  test('without crypto.randomUUID the id is a fallback, which storage keeps', async () => {
    await page.addInitScript('delete Crypto.prototype.randomUUID');
    const tabId = await open(page, app('one'));
    expect(tabId).toMatch(/^fallback_\d{13}_[a-z0-9]+$/);
    await daemon.tab(tabId, 'one');
    await page.reload();
    expect(await tabIdOf(page)).toBe(tabId);
  });

  test('the nonce that the daemon put into the document comes with the tab, and later ones with an update', async () => {
    await page.addInitScript("window[Symbol.for('tabmux.nonce')] = 'from the start'");
    const tabId = await open(page, app('one'));
    const { record } = await daemon.tab(tabId, 'one');
    expect(record.nonce).toBe('from the start');
    await page.evaluate("window[Symbol.for('tabmux.nonce')] = 'later'; dispatchEvent(new Event('tabmux-nonce'))");
    await daemon.until(() => daemon.tabs.get(tabId)?.record.nonce === 'later');
  });
});

describe('the worker', () => {
  // Spec: page-proxy 37.
  test('where there are no shared workers, a service worker is used, and where there is neither, one for the tab', async () => {
    await page.addInitScript('delete window.SharedWorker');
    await daemon.tab(await open(page, app('one')), 'one');
    expect(await page.evaluate('workerClient.getConnectionStatus()')).toMatchObject({ worker: 'service' });
    await page.addInitScript('delete Navigator.prototype.serviceWorker');
    await daemon.tab(await open(page, app('one')), 'one');
    expect(await page.evaluate('workerClient.getConnectionStatus()')).toMatchObject({ worker: 'dedicated' });
  });

  test('a script that is not there is an error that says what to do, and init can be tried again', async () => {
    await open(page, app('one'));
    await page.evaluate('window.other = new WorkerClient()');
    const attempt = `other.init({ workerUrl: '/tabmux/nothing.js', daemonUrl: ${JSON.stringify(daemon.url)} })`;
    await expect(page.evaluate(attempt)).rejects.toThrow('pass its URL as workerUrl');
    await page.evaluate(`other.init({ workerUrl: '/tabmux/worker.js', daemonUrl: ${JSON.stringify(daemon.url)} })`);
    const otherId: string = await page.evaluate('other.getTabId()');
    await daemon.tab(otherId);
    expect(otherId).not.toBe(await page.evaluate('workerClient.getTabId()'));
  });

  test.each(['shared', 'service'])('a %s worker that was killed is started again and told everything', async (worker) => {
    const tabId = await open(page, app('one', { worker }));
    await daemon.tab(tabId, 'one');
    const gone = daemon.until(() => !daemon.tabs.has(tabId));
    if (worker === 'service') {
      const session = await context.newCDPSession(page);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
    } else {
      const session = await browser.newBrowserCDPSession();
      const { targetInfos } = await session.send('Target.getTargets');
      const target = targetInfos.find((info) => info.type === 'shared_worker' && info.url.startsWith(site.origin));
      await session.send('Target.closeTarget', { targetId: target?.targetId ?? '' });
    }
    await gone;
    await daemon.tab(tabId, 'one');
    expect(answerOf(await daemon.call(tabId, 'one'))).toMatchObject({ tab: tabId });
  });

  test('getConnectionStatus and onConnectionStatus tell whether the daemon is there, and why not', async () => {
    daemon.refusal = 'Pages of this origin may not offer tools.';
    await open(page, app('one'));
    await page.evaluate('window.heard = []; workerClient.onConnectionStatus((status) => heard.push(status.connected))');
    await page.waitForFunction("workerClient.getConnectionStatus().reason.includes('may not offer')");
    expect(await page.evaluate('workerClient.getConnectionStatus()')).toEqual({ connected: false, worker: 'shared', reason: daemon.refusal });
    daemon.refusal = '';
    // A user who comes to the tab does not wait for the next try.
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.waitForFunction('heard.at(-1) === true');
  });

  test('a tool that the daemon rejects is a warning in the console', async () => {
    const tabId = await open(page, app('one'));
    const tab = await daemon.tab(tabId, 'one');
    const warned = page.waitForEvent('console', (message) => message.type() === 'warning');
    tab.send({ type: 'TOOL_REJECTED', tabId, name: 'one', reason: 'Its schema is too deep.' });
    expect((await warned).text()).toBe("tabmux refuses the tool 'one': Its schema is too deep.");
  });

  test('a tab that the daemon does not take is a warning in the console, and its connection status says why', async () => {
    const tabId = await open(page, app('one'));
    const tab = await daemon.tab(tabId, 'one');
    const warned = page.waitForEvent('console', (message) => message.type() === 'warning');
    const reason = 'This worker already has 1000 tabs.';
    tab.send({ type: 'TAB_REFUSED', tabId, anotherId: false, reason });
    expect((await warned).text()).toBe(`tabmux refuses this tab: ${reason}`);
    await page.waitForFunction('!workerClient.getConnectionStatus().connected');
    expect(await page.evaluate('workerClient.getConnectionStatus()')).toEqual({ connected: false, worker: 'shared', reason });
  });

  test('the library can be imported where there is no page', async () => {
    const { workerClient } = await import(new URL('../dist/index.js', import.meta.url).href);
    await workerClient.registerTool('one', () => 1);
    await expect(workerClient.init()).rejects.toThrow('needs a page');
  });
});
