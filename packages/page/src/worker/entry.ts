/** The worker's script. It is the same for all kinds of workers, and detects its own kind. */

import { MCPController } from './controller.js';

declare const skipWaiting: (() => Promise<void>) | undefined;

const isShared = 'SharedWorkerGlobalScope' in globalThis;
const isService = 'ServiceWorkerGlobalScope' in globalThis;

const controller = new MCPController({
  kind: isShared ? 'shared' : isService ? 'service' : 'dedicated',
  isLocal: /^(localhost$|127\.|\[::1)/.test(location.hostname),
  openSocket: (url) => new WebSocket(url),
  locks: navigator.locks,
});

// A shared worker gets its ports by `connect`, the others by a message.
addEventListener(isShared ? 'connect' : 'message', (event: Event & { ports?: readonly MessagePort[]; waitUntil?(promise: Promise<void>): void }) => {
  const port = event.ports?.[0];
  if (port) controller.connect(port);
  event.waitUntil?.(awake());
});

if (isService) addEventListener('install', () => void skipWaiting?.());

let sleep = (): void => {};

/** Keeps a service worker running until the next ping, which browsers delay to a minute in hidden tabs. */
function awake(): Promise<void> {
  sleep();
  return new Promise((resolve) => {
    sleep = resolve;
    setTimeout(resolve, 90_000);
  });
}
