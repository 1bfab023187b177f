/** A usual browser with tabs of two applications, and an agent that calls their tools. Needs a built tabmux. */

import { expect, vi } from 'vitest';
import { RawBrowser, type RawTab } from './raw-browser.js';
import { Site } from './site.js';
import { isBuilt, Tabmux } from './tabmux.js';

/** A row of `list_browser_tabs`. */
export interface Row {
  tabId: string;
  url: string;
  title: string;
  isActive: boolean;
  lastSeen: string;
}

/** A tab with the application. */
export interface AppTab {
  id: string;
  url: string;
  tab: RawTab;
}

export interface OpenOptions {
  at?: Site;
  path?: string;
  script?: string;
  newWindow?: boolean;
}

export class LibraryHarness {
  tabmux!: Tabmux;
  #daemonUrl = '';
  #worker = '';
  #open: RawTab[] = [];

  private constructor(
    readonly browser: RawBrowser,
    readonly site: Site,
    readonly otherSite: Site,
  ) {}

  static async start(): Promise<LibraryHarness> {
    if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
    return new LibraryHarness(await RawBrowser.start(), await Site.start(), await Site.start(undefined, '127.0.0.1'));
  }

  async stop(): Promise<void> {
    await this.browser.stop();
    await Promise.all([this.site.stop(), this.otherSite.stop()]);
  }

  /** An agent and a daemon for one test, whose tabs have this kind of worker. */
  async begin(worker: string, ...flags: string[]): Promise<void> {
    this.tabmux = await Tabmux.start(...flags);
    this.#daemonUrl = this.tabmux.url;
    this.#worker = worker;
  }

  /** Ends when the last tab has left, so that the next test meets none of this one. */
  async end(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((tab) => tab.close().catch(() => {})));
    await this.until(async () => expect(await this.rows()).toEqual([]));
    await this.tabmux.stop();
  }

  /** Opens the application in front, and waits until the daemon knows the tab and its tools. */
  async open(tools: string, { newWindow = false, ...more }: OpenOptions = {}): Promise<AppTab> {
    const url = this.url(tools, more);
    const tab = await this.browser.newTab(url, { newWindow });
    this.#open.push(tab);
    const id = await tab.tabId();
    await this.until(async () => expect(await this.row(id)).toMatchObject({ isActive: true }));
    await this.has(id, tools);
    return { id, url, tab };
  }

  url(tools: string, { at = this.site, path, script }: OpenOptions = {}): string {
    return at.app({ tools, worker: this.#worker, daemon: this.#daemonUrl, ...(path && { path }), ...(script && { script }) });
  }

  /** The user comes to a tab. */
  async front({ id, tab }: AppTab): Promise<void> {
    await tab.activate();
    await this.until(async () => expect(await this.row(id)).toMatchObject({ isActive: true }));
  }

  /** The user puts a window away and takes it up again. Without a screen, no other way gives a window the focus. */
  async raise({ id, tab }: AppTab): Promise<void> {
    await tab.setWindow('minimized');
    await tab.setWindow('normal');
    await this.until(async () => expect(await this.row(id)).toMatchObject({ isActive: true }));
  }

  /** The user goes to a page without the library, so that all the tabs of the applications are hidden. */
  async leave(): Promise<void> {
    this.#open.push(await this.browser.newTab(`${this.otherSite.origin}/tabmux/index.js`));
    await this.until(async () => expect((await this.rows()).filter(({ isActive }) => isActive)).toEqual([]));
  }

  /** Waits until the daemon knows exactly these tools of a tab. */
  async has(id: string, tools: string): Promise<void> {
    const names = tools.split(',').filter(Boolean).sort();
    await this.until(async () => expect(await this.toolsOf(id)).toEqual(names));
  }

  async toolsOf(tabId: string): Promise<string[]> {
    const { text } = await this.tabmux.call('list_page_tools', { tabId });
    return [...text.matchAll(/^(\S+) in tab (\S+)/gm)]
      .filter(([, , tab]) => tab === tabId)
      .map(([, name = '']) => name)
      .sort();
  }

  async rows(): Promise<Row[]> {
    return JSON.parse((await this.tabmux.call('list_browser_tabs')).text) as Row[];
  }

  async row(id: string): Promise<Row | undefined> {
    return (await this.rows()).find(({ tabId }) => tabId === id);
  }

  /** Calls a tool of the application once; answers in which tab it ran, and with what. */
  async call(name: string, args: object = {}): Promise<{ tab: string; args: object }> {
    const { text, isError } = await this.tabmux.call(name, args);
    if (isError) throw new Error(text);
    return JSON.parse(text) as { tab: string; args: object };
  }

  /** The tab in which a tool runs. */
  async whoRuns(name: string, args: object = {}): Promise<string> {
    return (await this.call(name, args)).tab;
  }

  /** How often a tab has run a tool. */
  async runs({ tab }: AppTab): Promise<unknown> {
    return tab.evaluate('runs');
  }

  until<T>(look: () => Promise<T> | T): Promise<T> {
    return vi.waitFor(look, { timeout: 20_000, interval: 20 });
  }
}
