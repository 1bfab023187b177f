/** The tabs of this browser: reports them and their changes, and opens, focuses and closes them. */

import type { FromExtension, TabInfo } from './messages.js';

export class Tabs {
  /** Whether the daemon wants to know about changes. */
  isHeard = false;
  /** Whether it also wants to know about private windows. */
  hearsOfPrivate = false;

  constructor(private readonly tell: (message: FromExtension) => void) {}

  listen(): void {
    chrome.tabs.onCreated.addListener((tab) => this.#report('tabCreated', tab));
    chrome.tabs.onUpdated.addListener((_, change, tab) => {
      if (change.url !== undefined || change.title !== undefined || change.status !== undefined) this.#report('tabUpdated', tab);
    });
    chrome.tabs.onRemoved.addListener((tabId) => this.#closed(tabId));
    chrome.tabs.onReplaced.addListener((added, removed) => {
      this.#closed(removed);
      void chrome.tabs.get(added).then((tab) => this.#report('tabCreated', tab));
    });
    chrome.tabs.onActivated.addListener(({ tabId }) => {
      if (this.isHeard) this.tell({ type: 'tabFocused', tabId, tools: [] });
    });
    // When the user changes to another window, Chrome does not report its active tab as activated.
    chrome.windows.onFocusChanged.addListener((windowId) => {
      if (windowId !== NO_WINDOW) void this.#windowFocused(windowId);
    });
  }

  async all(): Promise<TabInfo[]> {
    return (await chrome.tabs.query({})).flatMap((tab) => this.#info(tab) ?? []);
  }

  /** Opens a tab: in the background unless `focus` is set, and never in a private window. */
  async open(url: string, focus: boolean): Promise<number> {
    const windowId = await usableWindow();
    if (windowId === undefined) return openInNewWindow(url, focus);
    // The window may have begun to close in the meantime.
    const tab = await chrome.tabs.create({ url, active: focus, windowId }).catch(() => undefined);
    return tab?.id ?? openInNewWindow(url, focus);
  }

  async focus(tabId: number): Promise<void> {
    const tab = await chrome.tabs.update(tabId, { active: true });
    if (tab) await chrome.windows.update(tab.windowId, { focused: true });
  }

  async close(tabId: number): Promise<void> {
    await chrome.tabs.remove(tabId);
  }

  async #windowFocused(windowId: number): Promise<void> {
    const [tab] = await chrome.tabs.query({ active: true, windowId });
    const known = tab && this.#info(tab);
    if (this.isHeard && known && /^https?:/.test(known.url)) this.tell({ type: 'tabFocused', tabId: known.id, tools: [] });
  }

  #report(type: 'tabCreated' | 'tabUpdated', tab: chrome.tabs.Tab): void {
    const known = this.#info(tab);
    if (this.isHeard && known) this.tell({ type, tab: known });
  }

  #closed(tabId: number): void {
    if (this.isHeard) this.tell({ type: 'tabClosed', tabId });
  }

  #info(tab: chrome.tabs.Tab): TabInfo | undefined {
    if (!tab.incognito) return info(tab);
    const known = this.hearsOfPrivate ? info(tab) : undefined;
    return known && { ...known, private: true };
  }
}

/**
 * The window for a new tab: the last focused one if it is usable. Without a window, Chrome may choose one that is about to
 * close and that it no longer lists, and a tab that is opened there closes with it.
 */
async function usableWindow(): Promise<number | undefined> {
  const wanted = { windowTypes: ['normal' as const], populate: true };
  const [last, all] = await Promise.all([chrome.windows.getLastFocused(wanted).catch(() => undefined), chrome.windows.getAll(wanted)]);
  // A window without tabs is about to close.
  const usable = all.filter(({ incognito, tabs }) => !incognito && tabs?.length !== 0);
  return (usable.find(({ id }) => id === last?.id) ?? usable[0])?.id;
}

async function openInNewWindow(url: string, focused: boolean): Promise<number> {
  const made = await chrome.windows.create({ url, focused, incognito: false });
  const tab = made?.tabs?.[0];
  if (tab?.id === undefined) throw new Error('Chrome opened no window.');
  return tab.id;
}

function info(tab: chrome.tabs.Tab): TabInfo | undefined {
  if (tab.id === undefined) return undefined;
  const known: TabInfo = { id: tab.id, title: tab.title ?? '', url: tab.url || tab.pendingUrl || '', windowId: tab.windowId, active: tab.active };
  // Chrome also reports an opener for the blank tab that a user opens next to a page, although the page did not open it.
  const isPersons = tab.openerTabId === undefined || /^(chrome|edge|brave|about:newtab)/.test(known.url);
  return isPersons ? known : { ...known, openerId: tab.openerTabId };
}

/** Chrome's id for windows of other programs. */
const NO_WINDOW = -1;
