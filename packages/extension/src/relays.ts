/** The worker's end of the relays: each is a connection of a page's worker to the daemon, under the origin that Chrome tells. */

import type { FromExtension, ToExtension } from './messages.js';
import { RELAY } from './relay-name.js';

export class Relays {
  readonly #ports = new Map<number, chrome.runtime.Port>();
  #count = 0;

  /** `tell` says something to the daemon, if it is there. */
  constructor(
    private readonly tell: (message: FromExtension) => boolean,
    /** Whether the daemon wants to hear of private windows. */
    private readonly hearsOfPrivate: () => boolean,
  ) {}

  listen(): void {
    chrome.runtime.onConnect.addListener((port) => {
      const { name, sender } = port;
      if (name !== RELAY || sender?.id !== chrome.runtime.id || sender.frameId !== 0) return;
      if (sender.tab?.incognito && !this.hearsOfPrivate()) return port.disconnect();
      this.#open(port, sender.origin ?? '');
    });
  }

  hear(message: Extract<ToExtension, { type: 'pageTold' | 'pageEnded' }>): void {
    const port = this.#ports.get(message.connection);
    if (message.type === 'pageTold') return port?.postMessage(message.text);
    this.#ports.delete(message.connection);
    port?.disconnect();
  }

  /** The daemon is gone, and with it whoever listened. */
  lost(): void {
    for (const port of this.#ports.values()) port.disconnect();
    this.#ports.clear();
  }

  /** Ends those of private windows, if they are no longer wanted. */
  endPrivate(): void {
    if (this.hearsOfPrivate()) return;
    for (const [connection, port] of this.#ports) {
      if (!port.sender?.tab?.incognito) continue;
      this.#ports.delete(connection);
      this.tell({ type: 'pageEnded', connection });
      port.disconnect();
    }
  }

  #open(port: chrome.runtime.Port, origin: string): void {
    const connection = ++this.#count;
    if (!this.tell({ type: 'pageOpened', connection, origin })) return port.disconnect();
    this.#ports.set(connection, port);
    port.onMessage.addListener((text: unknown) => {
      if (typeof text === 'string') this.tell({ type: 'pageSaid', connection, text });
    });
    port.onDisconnect.addListener(() => {
      if (this.#ports.delete(connection)) this.tell({ type: 'pageEnded', connection });
    });
  }
}
