/** The worker's end of the relays. Each relay connects a page's worker to the daemon, with the origin that Chrome reports. */

import type { FromExtension, ToExtension } from './messages.js';
import { LONGEST, RELAY } from './relay-terms.js';

/** What relays need of the connection to the daemon. */
interface Daemon {
  /** Sends a message. Returns false if there is no connection. */
  tell(message: FromExtension): boolean;
  /** Whether so many bytes are unsent that pages have to try again later. */
  isBehind(): boolean;
  /** Whether the daemon wants to know about private windows. */
  hearsOfPrivate(): boolean;
}

interface Relay {
  port: chrome.runtime.Port;
  /** The daemon has accepted the page. */
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
      relay?.port.postMessage(message.text);
      return;
    }
    this.#relays.delete(message.connection);
    relay?.port.disconnect();
  }

  /** The connection to the daemon is lost. */
  lost(): void {
    for (const { port } of this.#relays.values()) port.disconnect();
    this.#relays.clear();
  }

  /** Closes the relays of private windows, if the daemon no longer wants them. */
  endPrivate(): void {
    if (this.daemon.hearsOfPrivate()) return;
    for (const [connection, { port }] of this.#relays) if (port.sender?.tab?.incognito) this.#end(connection);
  }

  #open(port: chrome.runtime.Port, origin: string): void {
    const connection = ++this.#count;
    if (this.daemon.isBehind() || !this.daemon.tell({ type: 'pageOpened', connection, origin })) {
      port.disconnect();
      return;
    }
    this.#relays.set(connection, { port, isAdmitted: false });
    port.onMessage.addListener((text: unknown) => {
      if (typeof text !== 'string' || !this.#relays.get(connection)?.isAdmitted) return;
      // Agents use the same socket. A page that floods it is disconnected before the socket is.
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
