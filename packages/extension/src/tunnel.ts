/** Chrome's debugging protocol for the tabs that the daemon works in, and for no others. */

import type { FromExtension, ToExtension } from './messages.js';

export class Tunnel {
  /** To attach and to detach take time, and are done one after the other for each tab. */
  readonly #turns = new Map<number, Promise<void>>();

  constructor(
    private readonly tell: (message: FromExtension) => void,
    /** The person pressed "Cancel" in Chrome's bar. */
    private readonly cancelled: (tabId: number) => void,
  ) {}

  listen(): void {
    chrome.debugger.onEvent.addListener((source, method, params) => {
      const { tabId, sessionId } = source as chrome.debugger.DebuggerSession;
      if (tabId === undefined) return;
      const event = { type: 'cdpEvent', tabId, method, params: params ?? {} } as const;
      this.tell(sessionId === undefined ? event : { ...event, sessionId });
    });
    chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
      if (tabId === undefined) return;
      this.tell({ type: 'detached', tabId, reason });
      if (reason === 'canceled_by_user') this.cancelled(tabId);
    });
  }

  async attach(tabId: number): Promise<void> {
    await this.#inTurn(tabId, () => chrome.debugger.attach({ tabId }, '1.3'));
  }

  async detach(tabId: number): Promise<void> {
    // A tab that is gone needs no letting go.
    await this.#inTurn(tabId, () => chrome.debugger.detach({ tabId }).catch(() => undefined));
  }

  async #inTurn(tabId: number, act: () => Promise<void>): Promise<void> {
    const done = (this.#turns.get(tabId) ?? Promise.resolve()).then(act);
    const turn = done.catch(() => undefined);
    this.#turns.set(tabId, turn);
    try {
      await done;
    } finally {
      if (this.#turns.get(tabId) === turn) this.#turns.delete(tabId);
    }
  }

  /** Lets go of all tabs that this extension holds; Chrome refuses what others hold. */
  async letGo(): Promise<void> {
    const targets = await chrome.debugger.getTargets();
    const held = targets.flatMap((target) => (target.attached && target.tabId !== undefined ? [target.tabId] : []));
    await Promise.all(held.map((tabId) => this.detach(tabId)));
  }

  async send({ requestId, tabId, sessionId, method, params }: Extract<ToExtension, { type: 'cdp' }>): Promise<void> {
    const target = sessionId === undefined ? { tabId } : { tabId, sessionId };
    try {
      const result = await chrome.debugger.sendCommand(target, method, params as Record<string, unknown>);
      this.tell({ type: 'cdp', requestId, result: result ?? {} });
    } catch (error) {
      this.tell({ type: 'cdp', requestId, error: words(error) });
    }
  }
}

/** Chrome wraps its refusals in JSON. */
function words(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
