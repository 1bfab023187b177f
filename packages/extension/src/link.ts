/** The connection to the daemon: connects, proves that it knows the secret, keeps the connection alive, and reconnects. */

import { PROTOCOL, type FromExtension, type ToExtension } from './messages.js';
import { freshNonce, instance, ownName, type Pairing, prove } from './pairing.js';

interface Owner {
  /** The port and the secret of the daemon. */
  pairing(): Promise<Pairing>;
  /** Shows the user the state of the connection. */
  show(state: string): void;
  /** Both sides have proved that they know the secret. */
  welcome(): Promise<void>;
  hear(message: ToExtension): Promise<void>;
  lost(): Promise<void>;
  /** No daemon was found for a while. */
  alone(): void;
}

/** One connection and its stage. A proof is valid for its own connection only. */
interface Talk {
  readonly socket: WebSocket;
  stage: 'new' | 'proved' | 'welcome' | 'over';
}

export class Link {
  #talk: Talk | undefined;
  #pause = FIRST_PAUSE;
  #pulse: ReturnType<typeof setInterval> | undefined;
  #heardAt = 0;
  /** When the last connection was lost. */
  #wantedAt = Date.now();

  constructor(private readonly owner: Owner) {}

  /** Connects, unless there is a connection already. */
  keep(): void {
    if (this.#talk) return;
    void this.#dial().catch((error: unknown) => {
      // Another attempt may have reached the daemon in the meantime.
      if (!this.#talk) this.#end(undefined, String(error));
    });
  }

  /** Reconnects, because something in the hello message has changed. */
  greetAgain(): void {
    this.#talk?.socket.close();
    this.keep();
  }

  get isWelcome(): boolean {
    return this.#talk?.stage === 'welcome';
  }

  /** Whether many bytes are still unsent. Callers that can retry later should. */
  get isBehind(): boolean {
    return (this.#talk?.socket.bufferedAmount ?? 0) > MUCH_BUFFERED;
  }

  /** Sends a message. Returns false if there is no authenticated connection. */
  tell(message: FromExtension): boolean {
    if (this.#talk?.stage !== 'welcome') return false;
    const { socket } = this.#talk;
    if (socket.bufferedAmount > MOST_BUFFERED) {
      // The daemon does not read. Reconnecting is better than buffering without limit.
      socket.close();
      return false;
    }
    socket.send(JSON.stringify(message));
    return true;
  }

  async #dial(): Promise<void> {
    const known = await this.owner.pairing();
    if (this.#talk) return;
    const host = `127.0.0.1:${known.port}`;
    const socket = new WebSocket(`ws://${host}/`);
    const talk: Talk = { socket, stage: 'new' };
    this.#talk = talk;
    const nonce = freshNonce();
    let why = 'The daemon is not running. It starts with the first agent.';
    // Messages are handled one after the other, although some take time.
    let turn = Promise.resolve();
    socket.onopen = async () => {
      const extensionVersion = chrome.runtime.getManifest().version;
      const hello = {
        type: 'hello',
        version: PROTOCOL,
        nonce,
        instance: await instance(),
        name: await ownName(known.name),
        extensionVersion,
      } satisfies FromExtension;
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as ToExtension;
      this.#heardAt = Date.now();
      if (talk.stage === 'welcome' && message.type !== 'ping') {
        void this.owner.hear(message);
        return;
      }
      turn = turn.then(async () => {
        why = (await this.#greet(talk, message, { known, nonce, host })) ?? why;
      });
    };
    socket.onerror = () => undefined; // `onclose` follows and has the reason.
    socket.onclose = () => this.#end(talk, why);
  }

  /** One step of the handshake. Returns the text to show when the connection ends, if this step changes it. */
  async #greet(talk: Talk, message: ToExtension, about: { known: Pairing; nonce: string; host: string }): Promise<string | undefined> {
    const { known, nonce, host } = about;
    const { socket } = talk;
    if (message.type === 'ping') {
      if (talk.stage === 'welcome') this.tell({ type: 'pong' });
    } else if (message.type === 'challenge') {
      const nonces = { extension: nonce, daemon: message.nonce };
      if (message.proof !== (await prove(known.secret, 'daemon', nonces, host))) {
        socket.close();
        return `Another program listens at port ${known.port}, or the secret was changed. Run "tabmux extension install".`;
      }
      socket.send(JSON.stringify({ type: 'proof', proof: await prove(known.secret, 'extension', nonces, host) } satisfies FromExtension));
      if (talk.stage === 'new') talk.stage = 'proved';
    } else if (message.type === 'welcome' && talk.stage === 'proved') {
      await this.owner.welcome();
      // This connection may have ended in the meantime, and another one may have begun.
      if (talk.stage !== 'proved') return undefined;
      talk.stage = 'welcome';
      this.#pause = FIRST_PAUSE;
      this.#pulse = setInterval(() => this.#beat(talk), PULSE);
      this.owner.show('connected');
      // Messages that came while the owner prepared itself are queued behind this one.
      return 'The daemon has stopped.';
    } else if (message.type === 'refused') {
      return String(message.reason).slice(0, LONGEST_REASON);
    } else if (talk.stage === 'welcome') {
      await this.owner.hear(message);
    }
    return undefined;
  }

  /** Pings the daemon, and ends the connection if it has been silent for too long. */
  #beat(talk: Talk): void {
    if (Date.now() - this.#heardAt < SILENCE_LIMIT) return void this.tell({ type: 'ping' });
    talk.socket.close();
    this.#end(talk, 'The daemon stopped responding.');
  }

  #end(talk: Talk | undefined, why: string): void {
    if (talk !== this.#talk) return;
    clearInterval(this.#pulse);
    const wasWelcome = talk?.stage === 'welcome';
    if (talk) talk.stage = 'over';
    this.#talk = undefined;
    this.owner.show(why);
    if (wasWelcome) {
      this.#wantedAt = Date.now();
      void this.owner.lost();
    }
    if (this.#pause === LONGEST_PAUSE) this.owner.alone();
    setTimeout(() => this.keep(), this.#pause);
    const longest = Date.now() - this.#wantedAt < SOON ? LONGEST_PAUSE_AT_FIRST : LONGEST_PAUSE;
    this.#pause = Math.min(this.#pause * 2, longest);
  }
}

/** Chrome stops a worker that neither sends nor receives anything for 30 s. */
const PULSE = 20_000;
const SILENCE_LIMIT = 60_000;
const FIRST_PAUSE = 250;
/** A daemon that died is restarted within this time, if an agent still needs it. */
const SOON = 30_000;
/** Chrome delays connections after too many failed attempts. */
const LONGEST_PAUSE_AT_FIRST = 1_000;
const LONGEST_PAUSE = 10_000;
/** Any program that listens at the port can send a reason, before it has proved anything. */
const LONGEST_REASON = 300;
/** The longest message of a page fits between these two limits. */
const MUCH_BUFFERED = 64 * 1024 * 1024;
const MOST_BUFFERED = 128 * 1024 * 1024;
