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
    const all = await chrome.windows.getAll({ windowTypes: ['normal'] });
    const [first] = all.filter(({ incognito }) => !incognito);
    if (!first) {
      const made = await chrome.windows.create({ url, focused: focus, incognito: false });
      const tab = made?.tabs?.[0];
      if (tab?.id === undefined) throw new Error('Chrome opened no window.');
      return tab.id;
    }
    // Chrome would use the last focused window, which must not be a private one.
    const home = all.some(({ incognito }) => incognito) ? { windowId: first.id } : {};
    const tab = await chrome.tabs.create({ url, active: focus, ...home });
    if (tab.id === undefined) throw new Error('Chrome opened no tab.');
    return tab.id;
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

function info(tab: chrome.tabs.Tab): TabInfo | undefined {
  if (tab.id === undefined) return undefined;
  const known: TabInfo = { id: tab.id, title: tab.title ?? '', url: tab.url || tab.pendingUrl || '', windowId: tab.windowId, active: tab.active };
  // Chrome also reports an opener for the blank tab that a user opens next to a page, although the page did not open it.
  const isPersons = tab.openerTabId === undefined || /^(chrome|edge|brave|about:newtab)/.test(known.url);
  return isPersons ? known : { ...known, openerId: tab.openerTabId };
}

/** Chrome's id for windows of other programs. */
const NO_WINDOW = -1;
