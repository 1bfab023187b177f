/** Tabs, as the panel shows them. Titles of pages are always shown as plain text. */

import { plain } from './panel-parts.js';

export interface ShownTab {
  id: number;
  windowId: number;
  title: string;
  place: string;
  /** The origin of its page, if it is a web page. */
  origin: string | undefined;
  /** Whether Chrome lets extensions work in it. */
  open: boolean;
  /** Whether it is in a private window. */
  isPrivate: boolean;
}

/** The tabs with these ids, as far as they exist. */
export async function knownTabs(ids: number[]): Promise<Map<number, ShownTab>> {
  const wanted = new Set(ids);
  const tabs = wanted.size > 0 ? await chrome.tabs.query({}) : [];
  return new Map(tabs.flatMap((tab) => (tab.id !== undefined && wanted.has(tab.id) ? [[tab.id, shown(tab)] as const] : [])));
}

/** The active tab next to this panel. If the panel is opened as a tab, the active tab of another window. */
export class FrontTab {
  readonly #own = chrome.tabs.getCurrent();

  constructor(changed: () => void) {
    chrome.tabs.onActivated.addListener(changed);
    chrome.tabs.onRemoved.addListener(changed);
    chrome.tabs.onUpdated.addListener((_, { title, url }) => (title !== undefined || url !== undefined) && changed());
    chrome.windows.onFocusChanged.addListener(changed);
  }

  async tab(): Promise<ShownTab | undefined> {
    const own = await this.#own;
    const active = await chrome.tabs.query({ active: true, windowType: 'normal', ...(own ? {} : { currentWindow: true }) });
    const [tab] = active.filter(({ windowId }) => windowId !== own?.windowId).sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
    return tab && shown(tab);
  }
}

function shown(tab: chrome.tabs.Tab): ShownTab {
  const url = tab.url || tab.pendingUrl || '';
  return {
    id: tab.id ?? -1,
    windowId: tab.windowId,
    title: plain(tab.title ?? '') || 'Untitled',
    place: plain(place(url)),
    origin: origin(url),
    isPrivate: tab.incognito,
    open: /^(https?:|about:blank$)/.test(url) && !/^https:\/\/(chromewebstore\.google\.com|chrome\.google\.com\/webstore)/.test(url),
  };
}

function place(url: string): string {
  try {
    const { host, protocol } = new URL(url);
    return host || protocol.replace(/:$/, '');
  } catch {
    return '';
  }
}

function origin(url: string): string | undefined {
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined;
}
