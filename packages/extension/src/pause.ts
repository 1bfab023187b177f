/**
 * A pause that the user asked for in this browser survives restarts of the worker and of the daemon: it is stored in Chrome, and
 * sent to a daemon that does not know it. A pause from another browser is stored only there. Otherwise a browser that is not
 * connected when the pause ends would start it again.
 */

export class Pause {
  #owed = false;

  /** A connection begins, before its first message. The daemon may be a new one. */
  async begin(): Promise<void> {
    const { paused } = await chrome.storage.session.get('paused');
    this.#owed = paused === true;
  }

  /** The user asks for a pause. It is stored first, because the message may never reach the daemon. */
  async wanted(): Promise<void> {
    this.#owed = true;
    await chrome.storage.session.set({ paused: true });
  }

  /** Whether the pause still has to be sent to the daemon. */
  get isOwed(): boolean {
    return this.#owed;
  }

  /** The daemon reports its state. Before it has received the pause, its state does not count. */
  async told(paused: boolean): Promise<void> {
    if (paused) this.#owed = false;
    else if (!this.#owed) await chrome.storage.session.set({ paused: false });
  }

  /** The user ends the pause. */
  async over(): Promise<void> {
    this.#owed = false;
    await chrome.storage.session.set({ paused: false });
  }
}
