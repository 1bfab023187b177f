/** As much of Chrome as the extension's connection needs, and a daemon that the test plays. */

import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { FromExtension, ToExtension } from '../src/messages.js';

export const ID = 'kidkkbhkckkggbmfgbebagoimeiebefc';
export const SECRET = 'ab'.repeat(32);

/** Puts Chrome's APIs in place. */
export function installChrome(): void {
  const stored: Record<string, unknown> = {};
  Object.assign(globalThis, {
    chrome: {
      runtime: { id: ID, getManifest: () => ({ version: '1.0' }) },
      storage: { local: { get: async () => ({ ...stored }), set: async (more: object) => Object.assign(stored, more) } },
    },
  });
}

export class FakeDaemon {
  readonly heard: FromExtension[] = [];
  connections = 0;
  #wake: (() => void)[] = [];
  #socket: WebSocket | undefined;

  private constructor(private readonly server: WebSocketServer) {
    server.on('connection', (socket) => {
      this.connections += 1;
      this.#socket = socket;
      socket.on('message', (data) => {
        this.heard.push(JSON.parse(String(data)) as FromExtension);
        for (const wake of this.#wake.splice(0)) wake();
      });
    });
  }

  static async start(): Promise<FakeDaemon> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise((resolve) => server.once('listening', resolve));
    return new FakeDaemon(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  say(message: ToExtension): void {
    this.#socket?.send(JSON.stringify(message));
  }

  hangUp(): void {
    this.#socket?.terminate();
  }

  /** The first message of a type, or the next one after those that were taken. */
  async take<T extends FromExtension['type']>(type: T): Promise<Extract<FromExtension, { type: T }>> {
    for (;;) {
      const index = this.heard.findIndex((message) => message.type === type);
      if (index >= 0) return this.heard.splice(index, 1)[0] as Extract<FromExtension, { type: T }>;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  prove(role: 'daemon' | 'extension', theirs: string, ours: string, secret = SECRET): string {
    const text = ['tabmux 1', role, theirs, ours, ID, `127.0.0.1:${this.port}`].join('\n');
    return createHmac('sha256', Buffer.from(secret, 'hex')).update(text).digest('hex');
  }

  /** The whole handshake. */
  async welcome(): Promise<void> {
    const { nonce } = await this.take('hello');
    const ours = 'cd'.repeat(32);
    this.say({ type: 'challenge', version: 1, nonce: ours, proof: this.prove('daemon', nonce, ours) });
    const { proof } = await this.take('proof');
    if (proof !== this.prove('extension', nonce, ours)) throw new Error('the proof is wrong');
    this.say({ type: 'welcome' });
  }

  async stop(): Promise<void> {
    for (const socket of this.server.clients) socket.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
