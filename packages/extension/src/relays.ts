/** The worker's end of the relays: each is a connection of a page's worker to the daemon, under the origin that Chrome tells. */

import type { FromExtension, ToExtension } from './messages.js';
import { LONGEST, RELAY } from './relay-terms.js';

/** The daemon, as far as relays have to do with it. */
interface Daemon {
  /** Says something, if it is there. */
  tell(message: FromExtension): boolean;
  /** Whether so much waits to be said that pages have to come again later. */
  isBehind(): boolean;
  /** Whether it wants to hear of private windows. */
  hearsOfPrivate(): boolean;
}

interface Relay {
  port: chrome.runtime.Port;
  /** The daemon has let the page in. Until then nothing of what it says is passed on. */
  isAdmitted: boolean;
}

export class Relays {
  readonly #relays = new Map<number, Relay>();
  #count = 0;

  constructor(private readonly daemon: Daemon) {}

  listen(): void {
    chrome.runtime.onConnect.addListener((port) => {
      const { name, sender } = port;
      if (name !== RELAY || sender?.id !== chrome.runtime.id || sender.frameId !== 0) return;
      if (sender.tab?.incognito && !this.daemon.hearsOfPrivate()) return port.disconnect();
      this.#open(port, sender.origin ?? '');
    });
  }

  hear(message: Extract<ToExtension, { type: 'pageTold' | 'pageEnded' }>): void {
    const relay = this.#relays.get(message.connection);
    if (message.type === 'pageTold') {
      if (relay) relay.isAdmitted = true;
      return relay?.port.postMessage(message.text);
    }
    this.#relays.delete(message.connection);
    relay?.port.disconnect();
  }

  /** The daemon is gone, and with it whoever listened. */
  lost(): void {
    for (const { port } of this.#relays.values()) port.disconnect();
    this.#relays.clear();
  }

  /** Ends those of private windows, if they are no longer wanted. */
  endPrivate(): void {
    if (this.daemon.hearsOfPrivate()) return;
    for (const [connection, { port }] of this.#relays) if (port.sender?.tab?.incognito) this.#end(connection);
  }

  #open(port: chrome.runtime.Port, origin: string): void {
    const connection = ++this.#count;
    if (this.daemon.isBehind() || !this.daemon.tell({ type: 'pageOpened', connection, origin })) return port.disconnect();
    this.#relays.set(connection, { port, isAdmitted: false });
    port.onMessage.addListener((text: unknown) => {
      if (typeof text !== 'string' || !this.#relays.get(connection)?.isAdmitted) return;
      // Agents work over the same socket: a page that floods it is ended before it could end that.
      if (text.length > LONGEST || this.daemon.isBehind()) this.#end(connection);
      else this.daemon.tell({ type: 'pageSaid', connection, text });
    });
    port.onDisconnect.addListener(() => {
      if (this.#relays.delete(connection)) this.daemon.tell({ type: 'pageEnded', connection });
    });
  }

  #end(connection: number): void {
    const relay = this.#relays.get(connection);
    if (!this.#relays.delete(connection)) return;
    this.daemon.tell({ type: 'pageEnded', connection });
    relay?.port.disconnect();
  }
}
