/** The id of this tab, in `sessionStorage`: it survives refresh and navigation, but a duplicated tab gets a new one. */

/** The id of this tab, created at first use. */
export function takeTabId(): string {
  const storage = sessionStore();
  if (!storage) return fallbackId();
  // Frames share the storage of their tab, and a second client shares the document: both count as tabs of their own.
  if (window.top !== window || Reflect.has(document, HELD)) return freshId();
  const stored = storage.getItem(KEY);
  return holdTabId(stored && !isCopy(storage) ? stored : freshId());
}

/** Stores the id as this tab's own, and marks it as in use while this document shows. */
function holdTabId(tabId: string): string {
  Reflect.set(document, HELD, tabId);
  addEventListener('pagehide', leaveTabId);
  addEventListener('pageshow', returnToTabId);
  try {
    sessionStore()?.setItem(KEY, tabId);
    sessionStore()?.setItem(IN_USE, '1');
  } catch {
    // The storage is full. The id is kept until the page is left.
  }
  return tabId;
}

/** Lets the next document in this tab use the id. */
function leaveTabId(): void {
  sessionStore()?.removeItem(IN_USE);
}

function returnToTabId(): void {
  holdTabId(Reflect.get(document, HELD));
}

/** Replaces an id that another tab uses. */
export function replaceTabId(tabId: string): string {
  return Reflect.get(document, HELD) === tabId ? holdTabId(freshId()) : freshId();
}

export function clearTabId(): void {
  sessionStore()?.removeItem(KEY);
  sessionStore()?.removeItem(IN_USE);
}

/** A random id. Not always a UUID. */
export function freshId(): string {
  return globalThis.crypto?.randomUUID?.() ?? fallbackId();
}

/** Where there is no `crypto.randomUUID` (pages without TLS), or no storage to keep an id in. */
function fallbackId(): string {
  return `fallback_${Date.now()}_${Math.random().toString(36).slice(2, 12)}`;
}

/**
 * Whether the storage came from another tab. Browsers copy it when a tab is duplicated and for children of
 * `window.open`, while the first document still exists, so the copy is marked as in use. A document that crashed or was
 * discarded leaves its mark as well, but then the next one is a reload or a discarded tab.
 */
function isCopy(storage: Storage): boolean {
  if (!storage.getItem(IN_USE) || Reflect.get(document, 'wasDiscarded')) return false;
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type !== 'reload';
}

function sessionStore(): Storage | undefined {
  try {
    const storage = window.sessionStorage;
    storage.getItem(KEY);
    return storage;
  } catch {
    return undefined;
  }
}

const KEY = 'tabmux_tab_id';
const IN_USE = 'tabmux_tab_in_use';
const HELD = Symbol.for('tabmux.tabId');
