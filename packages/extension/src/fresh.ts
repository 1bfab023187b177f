/**
 * Tabs that were opened for an agent and are not among those that the daemon tells of. Should the worker, the socket or the
 * daemon go meanwhile, nobody knows whose they are: then they are closed again. What is known survives a restart of the worker.
 */

import type { AgentInfo } from './messages.js';

export class Fresh {
  #turn: Promise<void> = Promise.resolve();

  opened(tabId: number): Promise<void> {
    return this.#change((tabs) => void (tabs[tabId] = Date.now()));
  }

  /** The daemon knows whose these are. */
  known(agents: AgentInfo[]): Promise<void> {
    return this.#change((tabs) => {
      for (const { tabId, opening } of agents.flatMap((agent) => agent.tabs)) if (!opening) delete tabs[tabId];
    });
  }

  /** Another connection begins: what the one before did not come to know of is closed. */
  discard(): Promise<void> {
    return this.#change(async (tabs) => {
      for (const [id, since] of Object.entries(tabs)) {
        delete tabs[Number(id)];
        // An agent that ended soon may have wanted its tab to stay.
        if (Date.now() - since < YOUNG) await chrome.tabs.remove(Number(id)).catch(() => undefined);
      }
    });
  }

  #change(change: (tabs: Record<number, number>) => void | Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      const { fresh } = await chrome.storage.session.get('fresh');
      const tabs = { ...(fresh as Record<number, number> | undefined) };
      const before = JSON.stringify(tabs);
      await change(tabs);
      if (JSON.stringify(tabs) !== before) await chrome.storage.session.set({ fresh: tabs });
    });
    return this.#turn;
  }
}

/** The daemon tells of a tab a moment after it was opened. */
const YOUNG = 10_000;
