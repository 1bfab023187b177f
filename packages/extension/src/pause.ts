/**
 * A pause that the person asked for here outlives the worker and the daemon. That there is one survives in Chrome, and a daemon
 * that does not know of it is told. One that was asked for in another browser is kept there, and nowhere else: who is away when
 * it ends would bring it back.
 */

export class Pause {
  #owed = false;

  /** A connection begins, before anything is heard on it: the daemon may be another one. */
  async begin(): Promise<void> {
    const { paused } = await chrome.storage.session.get('paused');
    this.#owed = paused === true;
  }

  /** The person wants it. It is kept before the daemon has heard of it, which it may never. */
  async wanted(): Promise<void> {
    this.#owed = true;
    await chrome.storage.session.set({ paused: true });
  }

  /** Whether the daemon has to be told. */
  get isOwed(): boolean {
    return this.#owed;
  }

  /** The daemon tells how it is. What it says before it has heard of the pause is not the person's word. */
  async told(paused: boolean): Promise<void> {
    if (paused) this.#owed = false;
    else if (!this.#owed) await chrome.storage.session.set({ paused: false });
  }

  /** The person lets agents go on. */
  async over(): Promise<void> {
    this.#owed = false;
    await chrome.storage.session.set({ paused: false });
  }
}
