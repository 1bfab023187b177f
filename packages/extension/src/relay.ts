/**
 * In pages: carries what the worker of the page library says to the extension, and back. Chrome keeps public pages from
 * this machine; whether this one may come through here is for the daemon to say, which is told the origin by Chrome.
 */

import { RELAY } from './relay-name.js';

addEventListener('message', ({ source, data, ports: [port] }: MessageEvent) => {
  if (source !== window || data !== CALL || !port) return;
  let link: chrome.runtime.Port;
  try {
    link = chrome.runtime.connect({ name: RELAY });
  } catch {
    return; // The extension was replaced; its successor comes with the next load of the page.
  }
  const end = (): void => {
    port.postMessage(null);
    port.close();
    link.disconnect();
  };
  port.onmessage = ({ data: text }: MessageEvent) => {
    if (typeof text === 'string') link.postMessage(text);
  };
  link.onMessage.addListener((text: string) => port.postMessage(text));
  link.onDisconnect.addListener(end);
  // In the back/forward cache nobody hears anything, so another tab has to carry.
  addEventListener('pagehide', end, { once: true });
  port.postMessage('');
});

/** What the page library says. */
const CALL = 'tabmux-relay';
