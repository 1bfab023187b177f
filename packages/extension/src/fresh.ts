/**
 * Tabs that were opened for an agent, until the daemon has saved which session owns them. If the worker, the socket or the
 * daemon stops before that, these tabs are reported on the next connection, and the daemon closes those without an owner. The
 * list survives a restart of the worker.
 */

export class Fresh {
  #turn: Promise<void> = Promise.resolve();
  /** Tabs of this connection. The daemon will still confirm or close them. */
  readonly #now = new Set<number>();

  /** A new connection begins. */
  begin(): void {
    this.#now.clear();
  }

  opened(tabId: number): Promise<void> {
    this.#now.add(tabId);
    return this.#change((tabs) => void (tabs[tabId] = Date.now()));
  }

  /** The daemon has saved the owner of this tab, or is about to close it. */
  known(tabId: number): Promise<void> {
    return this.#change((tabs) => void delete tabs[tabId]);
  }

  /** Tabs that earlier connections left behind. After a while, a tab counts as the user's own. */
  async left(): Promise<number[]> {
    const left: number[] = [];
    await this.#change((tabs) => {
      for (const [id, since] of Object.entries(tabs).map(([id, since]) => [Number(id), since] as const)) {
        if (this.#now.has(id)) continue;
        if (Date.now() - since < YOUNG) left.push(id);
        else delete tabs[id];
      }
    });
    return left;
  }

  #change(change: (tabs: Record<number, number>) => void): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      const { fresh } = await chrome.storage.session.get('fresh');
      const tabs = { ...(fresh as Record<number, number> | undefined) };
      const before = JSON.stringify(tabs);
      change(tabs);
      if (JSON.stringify(tabs) !== before) await chrome.storage.session.set({ fresh: tabs });
    });
    return this.#turn;
  }
}

/** As long as a session has time to reconnect to a daemon. */
const YOUNG = 60_000;
