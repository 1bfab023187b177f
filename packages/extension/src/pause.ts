/**
 * A pause that the person asked for outlives the worker and the daemon. That there is one survives in Chrome, and a daemon that
 * does not know of it is told.
 */

export class Pause {
  #owed = false;

  /** A connection begins, before anything is heard on it: the daemon may be another one. */
  async begin(): Promise<void> {
    const { paused } = await chrome.storage.session.get('paused');
    this.#owed = paused === true;
  }

  /** Whether the daemon has to be told. */
  get isOwed(): boolean {
    return this.#owed;
  }

  /** The daemon tells how it is. What it says before it has heard of the pause is not the person's word. */
  async told(paused: boolean): Promise<void> {
    if (this.#owed && !paused) return;
    this.#owed = false;
    await chrome.storage.session.set({ paused });
  }

  /** The person lets agents go on. */
  async over(): Promise<void> {
    this.#owed = false;
    await chrome.storage.session.set({ paused: false });
  }
}
