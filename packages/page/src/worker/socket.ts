/** The worker's websocket to the daemon: open while there are tabs, and reopened when it is lost. */

import { type FromDaemon, fromDaemon, PROTOCOL_VERSION, type ToDaemon, type WorkerKind } from '../wire.js';

/** The part of `WebSocket` that is used here. */
export interface SocketLike {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface SocketEvents {
  /** The daemon has accepted the connection. It has no tabs yet. */
  onWelcome(): void;
  onMessage(message: FromDaemon): void;
  /** The connection failed or was lost. It is tried again. */
  onLost(reason: string): void;
}

export class DaemonSocket {
  #url = '';
  #socket: SocketLike | undefined;
  #isWelcome = false;
  #wait = FIRST_WAIT;
  #reason = '';
  #heard = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly kind: WorkerKind,
    private readonly open: (url: string) => SocketLike,
    private readonly events: SocketEvents,
  ) {}

  get isWelcome(): boolean {
    return this.#isWelcome;
  }

  /** Connects, unless there is a connection. A pending retry happens now. */
  connectTo(url: string): void {
    if (url !== this.#url) {
      this.disconnect();
      this.#url = url;
    }
    this.hurry();
  }

  /** Retries now, because the user is looking at a tab. */
  hurry(): void {
    if (!this.#socket && this.#url) this.#connect();
  }

  disconnect(): void {
    const socket = this.#socket;
    this.#url = '';
    this.#wait = FIRST_WAIT;
    clearTimeout(this.#retry);
    this.#forget();
    socket?.close();
    this.events.onLost('');
  }

  /** Sends a message. Without a connection it is dropped, because the next connection gets the whole state. */
  send(message: ToDaemon): void {
    if (this.#isWelcome) this.#socket?.send(JSON.stringify(message));
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#reason = '';
    let socket: SocketLike;
    try {
      socket = this.open(this.#url);
    } catch (error) {
      this.#lose(String(error), MAX_WAIT);
      return;
    }
    this.#socket = socket;
    socket.onopen = () => {
      const hello: ToDaemon = { type: 'HELLO', version: PROTOCOL_VERSION, library: LIBRARY_VERSION, worker: this.kind };
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = (event) => {
      if (this.#socket === socket) this.#receive(fromDaemon(event.data));
    };
    socket.onclose = () => {
      if (this.#socket === socket) this.#lose(this.#reason || `No daemon answers at ${this.#url}.`, this.#wait);
    };
    this.#heard = Date.now();
    this.#beat = setInterval(() => this.#checkPulse(), BEAT);
  }

  #receive(message: FromDaemon | undefined): void {
    this.#heard = Date.now();
    if (message?.type === 'PING') this.#socket?.send('{"type":"PONG"}');
    else if (message?.type === 'REFUSED') this.#giveUp(message.reason);
    else if (message?.type === 'WELCOME' && !this.#isWelcome) this.#greet(message.version);
    else if (message && this.#isWelcome) this.events.onMessage(message);
  }

  #greet(version: number): void {
    if (version !== PROTOCOL_VERSION) {
      this.#giveUp(`The daemon uses protocol ${version}, this page ${PROTOCOL_VERSION}; update the older one.`);
      return;
    }
    this.#isWelcome = true;
    this.#wait = FIRST_WAIT;
    this.events.onWelcome();
  }

  /** Closes the connection and retries rarely: the daemon may be replaced by another version. */
  #giveUp(reason: string): void {
    this.#reason = reason;
    this.#wait = MAX_WAIT;
    this.#socket?.close();
  }

  /** A socket may be dead without an event, for example after the machine has slept. */
  #checkPulse(): void {
    const socket = this.#socket;
    if (Date.now() - this.#heard > 2 * BEAT) {
      this.#lose('The daemon stopped responding.', this.#wait);
      socket?.close();
    } else this.send({ type: 'PING' });
  }

  #lose(reason: string, wait: number): void {
    this.#forget();
    // Many workers lose the same daemon at once, and should not reconnect all at once.
    this.#retry = setTimeout(() => this.#connect(), wait * (0.5 + Math.random() / 2));
    this.#wait = Math.min(wait * 2, MAX_WAIT);
    this.events.onLost(reason);
  }

  #forget(): void {
    clearInterval(this.#beat);
    this.#socket = undefined;
    this.#isWelcome = false;
  }
}

const FIRST_WAIT = 500;
const MAX_WAIT = 30_000;
const BEAT = 20_000;

// Set by the build from package.json.
declare const LIBRARY_VERSION: string;
