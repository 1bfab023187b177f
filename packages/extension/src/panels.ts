/** The worker's end of the side panels: sends them the state, and passes the user's requests to the daemon. */

import type { FromExtension, SiteInfo, ToExtension } from './messages.js';

export type Overview = Extract<ToExtension, { type: 'overview' }>;

/** A message to a panel. */
export type ToPanel =
  | { type: 'state'; connected: boolean; why: string; overview: Overview | undefined }
  | { type: 'site'; site: SiteInfo }
  | { type: 'denied'; reason: string };

/** A request from a panel. */
export type FromPanel = Extract<FromExtension, { type: (typeof WISHES)[number] }>;

export const WISHES = ['pause', 'resume', 'takeBack', 'give', 'follow', 'answer', 'rule', 'site', 'privateWindows'] as const;

export const PANEL = 'panel';

export class Panels {
  readonly #ports = new Set<chrome.runtime.Port>();
  #connected = false;
  #why = 'Looking for tabmux on this machine.';
  #overview: Overview | undefined;

  constructor(private readonly want: (wish: FromPanel) => void) {}

  listen(): void {
    chrome.runtime.onConnect.addListener((port) => {
      // Our content scripts have the same id, and a page that escapes Chrome's sandbox could send messages as one.
      if (port.name !== PANEL || port.sender?.id !== chrome.runtime.id || port.sender.origin !== location.origin) return;
      this.#ports.add(port);
      port.onDisconnect.addListener(() => this.#ports.delete(port));
      port.onMessage.addListener((wish: FromPanel) => this.want(wish));
      port.postMessage(this.#state());
    });
  }

  /** Whether the daemon is connected, and if not, why. */
  link(connected: boolean, why: string): void {
    [this.#connected, this.#why] = [connected, why];
    if (!connected) this.#overview = undefined;
    this.#tell(this.#state());
  }

  show(overview: Overview): void {
    this.#overview = overview;
    this.#tell(this.#state());
  }

  site(site: SiteInfo): void {
    this.#tell({ type: 'site', site });
  }

  deny(reason: string): void {
    this.#tell({ type: 'denied', reason });
  }

  #state(): ToPanel {
    return { type: 'state', connected: this.#connected, why: this.#why, overview: this.#overview };
  }

  #tell(message: ToPanel): void {
    for (const port of this.#ports) port.postMessage(message);
  }
}
