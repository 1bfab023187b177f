/** A connection to the daemon through a page and the extension, because browsers do not let public pages connect to this machine. */

import type { PortLike } from './controller.js';
import type { SocketLike } from './socket.js';

/** Opens when an extension accepts the port (''), and closes when none does or it closes it (null). The caller closes it with its page. */
export function openRelay(page: PortLike): SocketLike {
  const { port1, port2 } = new MessageChannel();
  const socket: SocketLike = {
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => port1.postMessage(text),
    close() {
      clearTimeout(timer);
      port1.close();
      socket.onclose?.(undefined as never);
    },
  };
  const timer = setTimeout(socket.close, PATIENCE);
  port1.onmessage = (event: MessageEvent) => {
    clearTimeout(timer);
    if (event.data) socket.onmessage?.(event);
    else if (event.data === '') socket.onopen?.(event);
    else socket.close();
  };
  page.postMessage({ type: 'RELAY' }, [port2]);
  return socket;
}

/** An installed extension answers at once. */
const PATIENCE = 1000;
