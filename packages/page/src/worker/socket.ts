/** The worker's one websocket to the daemon: opened while there are tabs, and opened again when it is lost. */

import { type FromDaemon, fromDaemon, PROTOCOL_VERSION, type ToDaemon, type WorkerKind } from '../wire.js';

/** As much of a `WebSocket` as is needed here. */
export interface SocketLike {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface SocketEvents {
  /** The daemon took us, and knows nothing yet. */
  onWelcome(): void;
  onMessage(message: FromDaemon): void;
  /** The daemon is not there (any more); we go on trying. */
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

  /** Connects, unless that is done; what waits for its next try does not wait longer. */
  connectTo(url: string): void {
    if (url !== this.#url) {
      this.disconnect();
      this.#url = url;
    }
    this.hurry();
  }

  /** Tries now instead of later: somebody is looking. */
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

  /** Says something to the daemon. While it is away nothing is kept: it will be told the whole state. */
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
      this.#giveUp(`The daemon speaks version ${version}, this page ${PROTOCOL_VERSION}; update the older one.`);
      return;
    }
    this.#isWelcome = true;
    this.#wait = FIRST_WAIT;
    this.events.onWelcome();
  }

  /** Not for ever: a daemon that refuses today may be replaced tomorrow. */
  #giveUp(reason: string): void {
    this.#reason = reason;
    this.#wait = MAX_WAIT;
    this.#socket?.close();
  }

  /** A socket may be dead without knowing it, after a sleep of the machine for one. */
  #checkPulse(): void {
    const socket = this.#socket;
    if (Date.now() - this.#heard > 2 * BEAT) {
      this.#lose('The daemon went silent.', this.#wait);
      socket?.close();
    } else this.send({ type: 'PING' });
  }

  #lose(reason: string, wait: number): void {
    this.#forget();
    // Many workers lose the same daemon at once, and should not come back at once.
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
