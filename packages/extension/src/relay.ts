/**
 * In pages: carries what the worker of the page library says to the extension, and back. Chrome keeps public pages from
 * this machine; whether this one may come through here is for the daemon to say, which is told the origin by Chrome.
 * Until the daemon has said so the page hears nothing, so that it cannot know that anybody is here.
 */

import { LONGEST, RELAY } from './relay-terms.js';

let open = 0;

addEventListener('message', ({ source, data, ports: [port] }: MessageEvent) => {
  if (source !== window || data !== CALL || !port || open >= MOST) return;
  let link: chrome.runtime.Port;
  try {
    link = chrome.runtime.connect({ name: RELAY });
  } catch {
    return; // The extension was replaced; its successor comes with the next load of the page.
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
    // Whoever is sent away cannot knock without pause.
    setTimeout(() => open--, PAUSE);
  };
  const carry = ({ data: text }: MessageEvent): void => {
    if (typeof text !== 'string') return;
    if (text.length > LONGEST) end();
    else link.postMessage(text);
  };
  link.onMessage.addListener((text: string) => {
    // The first word is empty, and opens.
    isAdmitted = true;
    port.onmessage ??= carry;
    port.postMessage(text);
  });
  link.onDisconnect.addListener(end);
  // The page's worker has hung up.
  port.addEventListener('close', end);
  // In the back/forward cache nobody hears anything, so another tab has to carry.
  addEventListener('pagehide', end);
});

/** What the page library says. */
const CALL = 'tabmux-relay';
/** How many a document may have at once; one is enough for each copy of the library in it. */
const MOST = 4;
const PAUSE = 1000;
