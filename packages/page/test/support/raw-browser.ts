/** A browser driven by plain CDP, for what Playwright hides: focus, duplicated tabs, crashes, the back/forward cache. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { isRecord, type JsonObject } from '../../src/json.js';
import { args, browser } from './browser.js';

export interface RawOptions {
  flags?: string[];
  /** What the user has set, as in the profile's `Preferences`. */
  preferences?: JsonObject;
  /** Loads an extension that can duplicate tabs. */
  withExtension?: boolean;
}

export class RawBrowser {
  readonly #answers = new Map<number, (message: JsonObject) => void>();
  readonly #listeners = new Set<(message: JsonObject) => void>();
  #count = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data) => {
      const message: JsonObject = JSON.parse(String(data));
      const { id } = message;
      if (typeof id === 'number') this.#answers.get(id)?.(message);
      else for (const listener of this.#listeners) listener(message);
    });
  }

  static async start({ flags = [], preferences, withExtension }: RawOptions = {}): Promise<RawBrowser> {
    const folder = mkdtempSync(join(tmpdir(), 'tabmux-page-'));
    if (preferences) {
      await mkdir(join(folder, 'Default'));
      await writeFile(join(folder, 'Default', 'Preferences'), JSON.stringify(preferences));
    }
    const more = withExtension ? [`--load-extension=${await writeExtension(join(folder, 'extension'))}`] : [];
    const own = ['--headless', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${folder}`];
    const child = spawn(browser().executablePath, [...args, ...own, ...more, ...flags, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Killed, it cannot remove the folder that it makes for its lock.
      env: { ...process.env, TMPDIR: folder },
    });
    const socket = new WebSocket(await endpoint(child), { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new RawBrowser(child, folder, socket);
  }

  /** Where others can attach to it. */
  get endpoint(): string {
    return this.socket.url;
  }

  async newTab(url: string, { newWindow = false } = {}): Promise<RawTab> {
    const { targetId } = await this.send('Target.createTarget', { url, newWindow });
    return this.attach(String(targetId));
  }

  /** The tab that appears while something is done. */
  async tabOpenedBy(act: () => Promise<unknown>): Promise<RawTab> {
    await this.send('Target.setDiscoverTargets', { discover: true });
    const opened = this.once((message) => {
      const info = message['method'] === 'Target.targetCreated' && isRecord(message['params']) && message['params']['targetInfo'];
      return isRecord(info) && info['type'] === 'page' && String(info['targetId']);
    });
    await act();
    return this.attach(await opened);
  }

  /** Duplicates the tab in front, as the user's menu does. */
  async duplicateFront(): Promise<RawTab> {
    const extension = await this.worker('service', 'chrome-extension:');
    return this.tabOpenedBy(() =>
      extension.evaluate('chrome.tabs.query({ active: true, lastFocusedWindow: true }).then(([tab]) => chrome.tabs.duplicate(tab.id))'),
    );
  }

  /** The worker of a site, to look into it. */
  async worker(kind: string, site: string): Promise<RawTab> {
    const { targetInfos } = await this.send('Target.getTargets');
    const isMeant = (info: unknown): boolean => isRecord(info) && info['type'] === `${kind}_worker` && String(info['url']).startsWith(site);
    const worker = Array.isArray(targetInfos) && targetInfos.find(isMeant);
    if (!isRecord(worker)) throw new Error(`no ${kind} worker of ${site} runs`);
    return this.attach(String(worker['targetId']));
  }

  async attach(targetId: string): Promise<RawTab> {
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new RawTab(this, targetId, String(sessionId));
    // Workers have no such domain, and a page that has crashed would not answer later.
    await tab.send('Page.enable').catch(() => {});
    return tab;
  }

  async send(method: string, params: JsonObject = {}, sessionId?: string): Promise<JsonObject> {
    const id = ++this.#count;
    const answer = new Promise<JsonObject>((resolve) => this.#answers.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    const { error, result } = await answer;
    this.#answers.delete(id);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return isRecord(result) ? result : {};
  }

  once<T>(look: (message: JsonObject) => T | false): Promise<T> {
    return new Promise((resolve) => {
      const listener = (message: JsonObject): void => {
        const found = look(message);
        if (found === false) return;
        this.#listeners.delete(listener);
        resolve(found);
      };
      this.#listeners.add(listener);
    });
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.socket.send(JSON.stringify({ id: ++this.#count, method: 'Browser.close' }));
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class RawTab {
  constructor(
    private readonly browser: RawBrowser,
    readonly targetId: string,
    private readonly sessionId: string,
  ) {}

  async evaluate(expression: string): Promise<unknown> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', params);
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return isRecord(result) ? result['value'] : undefined;
  }

  /** Waits until the client is ready, and answers the tab's id. */
  async tabId(): Promise<string> {
    await this.send('Runtime.enable');
    const told = this.browser.once((message) => this.#isMine(message) && message['method'] === 'Runtime.bindingCalled');
    await this.send('Runtime.addBinding', { name: 'tellReady' });
    const isReady = await this.evaluate("document.body?.dataset.ready === 'yes'");
    if (!isReady) await told;
    return String(await this.evaluate('workerClient.getTabId()'));
  }

  /** Goes somewhere, by the address bar. */
  async go(url: string): Promise<void> {
    await this.#navigating(() => this.send('Page.navigate', { url }));
  }

  async reload(): Promise<void> {
    await this.#navigating(() => this.send('Page.reload'));
  }

  /** Goes back, and waits until the page is shown. */
  async back(): Promise<void> {
    const { currentIndex, entries } = await this.send('Page.getNavigationHistory');
    const entry = Array.isArray(entries) && typeof currentIndex === 'number' ? entries[currentIndex - 1] : undefined;
    if (!isRecord(entry)) throw new Error('there is nothing to go back to');
    await this.#navigating(() => this.send('Page.navigateToHistoryEntry', { entryId: entry['id'] }));
  }

  async crash(): Promise<void> {
    await this.send('Inspector.enable');
    const crashed = this.browser.once((message) => this.#isMine(message) && message['method'] === 'Inspector.targetCrashed');
    void this.send('Page.crash').catch(() => {});
    await crashed;
  }

  /** Brings the tab to the front of its window. */
  async activate(): Promise<void> {
    await this.browser.send('Target.activateTarget', { targetId: this.targetId });
  }

  async setWindow(windowState: 'minimized' | 'normal'): Promise<void> {
    const { windowId } = await this.browser.send('Browser.getWindowForTarget', { targetId: this.targetId });
    await this.browser.send('Browser.setWindowBounds', { windowId, bounds: { windowState } });
  }

  async close(): Promise<void> {
    await this.browser.send('Target.closeTarget', { targetId: this.targetId });
  }

  send(method: string, params: JsonObject = {}): Promise<JsonObject> {
    return this.browser.send(method, params, this.sessionId);
  }

  /** Waits until the next document is in the tab. */
  async #navigating(act: () => Promise<unknown>): Promise<void> {
    const arrived = this.browser.once((message) => this.#isMine(message) && message['method'] === 'Page.frameNavigated');
    await act();
    await arrived;
  }

  #isMine(message: JsonObject): boolean {
    return message['sessionId'] === this.sessionId;
  }
}

/** The address that the browser prints when it is ready. */
function endpoint(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (data) => {
      text += String(data);
      const [url] = /ws:\/\/\S+/.exec(text) ?? [];
      if (url) resolve(url);
    });
    child.once('exit', () => reject(new Error(`the browser did not start: ${text}`)));
  });
}

async function writeExtension(folder: string): Promise<string> {
  await mkdir(folder);
  const manifest = { manifest_version: 3, name: 'duplicate', version: '1', permissions: ['tabs'], background: { service_worker: 'worker.js' } };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'worker.js'), '');
  return folder;
}
