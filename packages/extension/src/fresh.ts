/**
 * Tabs that were opened for an agent, until the daemon says that it has written down whose they are. Should the worker, the
 * socket or the daemon go before, the daemon is asked on the next connection, and closes what nobody knows. What is noted here
 * survives a restart of the worker.
 */

export class Fresh {
  #turn: Promise<void> = Promise.resolve();
  /** Those of this connection: the daemon is about to say something of them. */
  readonly #now = new Set<number>();

  /** Another connection begins. */
  begin(): void {
    this.#now.clear();
  }

  opened(tabId: number): Promise<void> {
    this.#now.add(tabId);
    return this.#change((tabs) => void (tabs[tabId] = Date.now()));
  }

  /** The daemon knows whose this is, or closes it. */
  known(tabId: number): Promise<void> {
    return this.#change((tabs) => void delete tabs[tabId]);
  }

  /** Those that the connections before left. What has been there for a while is the person's by now. */
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

/** As long as sessions have to come back to a daemon. */
const YOUNG = 60_000;
