/** The connection to the daemon: dials, proves, stays, and comes back. */

import { PROTOCOL, type FromExtension, type ToExtension } from './messages.js';
import { freshNonce, instance, ownName, type Pairing, prove } from './pairing.js';

interface Owner {
  /** What pairs this extension with its daemon. */
  pairing(): Promise<Pairing>;
  /** Tells the person how it stands. */
  show(state: string): void;
  /** Both sides have proved themselves. */
  welcome(): Promise<void>;
  hear(message: ToExtension): Promise<void>;
  lost(): Promise<void>;
  /** Nobody was found for a while. */
  alone(): void;
}

/** One connection, and how far the two sides have come on it. What was proved on another one counts for nothing here. */
interface Talk {
  readonly socket: WebSocket;
  stage: 'new' | 'proved' | 'welcome' | 'over';
}

export class Link {
  #talk: Talk | undefined;
  #pause = FIRST_PAUSE;
  #pulse: ReturnType<typeof setInterval> | undefined;
  #heardAt = 0;
  /** Since when there should be a connection again. */
  #wantedAt = Date.now();

  constructor(private readonly owner: Owner) {}

  /** Sees that there is a connection, or that one is on its way. */
  keep(): void {
    if (this.#talk) return;
    void this.#dial().catch((error: unknown) => {
      // Another try may have found the daemon meanwhile.
      if (!this.#talk) this.#end(undefined, String(error));
    });
  }

  /** Says hello once more, because something in it has changed. */
  greetAgain(): void {
    this.#talk?.socket.close();
    this.keep();
  }

  get isWelcome(): boolean {
    return this.#talk?.stage === 'welcome';
  }

  /** Whether much waits to be said. Whoever can come again later should. */
  get isBehind(): boolean {
    return (this.#talk?.socket.bufferedAmount ?? 0) > MUCH_BUFFERED;
  }

  /** Says something, if somebody listens who has proved itself. False if nobody does. */
  tell(message: FromExtension): boolean {
    if (this.#talk?.stage !== 'welcome') return false;
    const { socket } = this.#talk;
    if (socket.bufferedAmount > MOST_BUFFERED) {
      // Nobody reads. To come back is better than to grow.
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
    // Messages are handled one after the other, though some take time.
    let turn = Promise.resolve();
    socket.onopen = async () => {
      const hello = { type: 'hello', version: PROTOCOL, nonce, instance: await instance(), name: await ownName(known.name) } satisfies FromExtension;
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
    socket.onerror = () => undefined; // What ends it is told by the end.
    socket.onclose = () => this.#end(talk, why);
  }

  /** One step of the handshake; a sentence if it goes wrong. */
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
      // It may have ended meanwhile, and another one may have begun.
      if (talk.stage !== 'proved') return undefined;
      talk.stage = 'welcome';
      this.#pause = FIRST_PAUSE;
      this.#pulse = setInterval(() => this.#beat(talk), PULSE);
      this.owner.show('connected');
      // What came while the owner made itself ready waits in the same turn.
      return 'The daemon is gone.';
    } else if (message.type === 'refused') {
      return String(message.reason).slice(0, LONGEST_REASON);
    } else if (talk.stage === 'welcome') {
      await this.owner.hear(message);
    }
    return undefined;
  }

  /** Gives a sign of life, and looks for the other's. */
  #beat(talk: Talk): void {
    if (Date.now() - this.#heardAt < SILENCE_LIMIT) return void this.tell({ type: 'ping' });
    talk.socket.close();
    this.#end(talk, 'The daemon says nothing any more.');
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

/** Chrome ends a worker that neither says nor hears anything for 30 s. */
const PULSE = 20_000;
const SILENCE_LIMIT = 60_000;
const FIRST_PAUSE = 250;
/** A daemon that died is followed by another one within this time, if an agent still wants it. */
const SOON = 30_000;
/** Chrome holds back those who dial in vain too often. */
const LONGEST_PAUSE_AT_FIRST = 1_000;
const LONGEST_PAUSE = 10_000;
/** Whoever listens at the port may say it, proved or not. */
const LONGEST_REASON = 300;
/** The longest message of a page still fits between these. */
const MUCH_BUFFERED = 64 * 1024 * 1024;
const MOST_BUFFERED = 128 * 1024 * 1024;
