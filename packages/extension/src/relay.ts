/**
 * The content script: passes messages between the worker of the page library and the extension, because Chrome does not let
 * public pages connect to this machine. The daemon decides whether to accept the page, by the origin that Chrome reports.
 * Until it has accepted the page, the page gets no answer, so it cannot find out that the extension is installed.
 */

import { LONGEST, RELAY } from './relay-terms.js';

let open = 0;

addEventListener('message', ({ source, data, ports: [port] }: MessageEvent) => {
  if (source !== window || data !== CALL || !port || open >= MOST) return;
  let link: chrome.runtime.Port;
  try {
    link = chrome.runtime.connect({ name: RELAY });
  } catch {
    return; // The extension was replaced. The new one runs after the next load of the page.
  }
  open++;
  let isAdmitted = false;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    removeEventListener('pagehide', end);
    link.disconnect();
    if (isAdmitted) {
      port.postMessage(null);
      port.close();
    }
    // A page that is refused has to wait before it can try again.
    setTimeout(() => open--, PAUSE);
  };
  const carry = ({ data: text }: MessageEvent): void => {
    if (typeof text !== 'string') return;
    if (text.length > LONGEST) end();
    else link.postMessage(text);
  };
  link.onMessage.addListener((text: string) => {
    // The first message is empty and opens the connection.
    isAdmitted = true;
    port.onmessage ??= carry;
    port.postMessage(text);
  });
  link.onDisconnect.addListener(end);
  // The page's worker has closed the connection.
  port.addEventListener('close', end);
  // A page in the back/forward cache receives no messages, so another tab has to be the relay.
  addEventListener('pagehide', end);
});

/** The message with which the page library asks for a relay. */
const CALL = 'tabmux-relay';
/** How many relays a document may have at once. Each copy of the library in it needs one. */
const MOST = 4;
const PAUSE = 1000;
