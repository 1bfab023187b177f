/** The worker's end of the side panels: they are shown how it stands, and what they want goes to the daemon. */

import type { FromExtension, SiteInfo, ToExtension } from './messages.js';

export type Overview = Extract<ToExtension, { type: 'overview' }>;

/** What a panel is told. */
export type ToPanel =
  | { type: 'state'; connected: boolean; why: string; overview: Overview | undefined }
  | { type: 'site'; site: SiteInfo }
  | { type: 'denied'; reason: string };

/** What a panel wants. */
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
      // Our scripts in pages have the same id, and a page that has broken out of Chrome's walls could speak as one.
      if (port.name !== PANEL || port.sender?.id !== chrome.runtime.id || port.sender.origin !== location.origin) return;
      this.#ports.add(port);
      port.onDisconnect.addListener(() => this.#ports.delete(port));
      port.onMessage.addListener((wish: FromPanel) => this.want(wish));
      port.postMessage(this.#state());
    });
  }

  /** Whether the daemon is there, and why not. */
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
