/** A worker whose pages, locks and daemon are made up. */

import { expect } from 'vitest';
import type { RegisterTabRequest, ToPage, ToWorker } from '../../src/messages.js';
import type { JsonObject } from '../../src/json.js';
import type { FromDaemon } from '../../src/wire.js';
import { MCPController, type PortLike, type WorkerWorld } from '../../src/worker/controller.js';
import type { SocketLike } from '../../src/worker/socket.js';
import { complaint } from './contract.js';

/** A worker with pages and sockets that only write down what they are told. */
export function world({ hasLocks = true, isLocal = true } = {}) {
  const sockets: FakeSocket[] = [];
  const waiting = new Map<string, () => unknown>();
  const locks: WorkerWorld['locks'] = {
    request: (name: string, then: unknown) => {
      if (typeof then === 'function') waiting.set(name, () => then());
      return new Promise<never>(() => {});
    },
  };
  const openSocket = (): SocketLike => {
    const socket = new FakeSocket();
    sockets.push(socket);
    return socket;
  };
  const controller = new MCPController({ kind: 'shared', isLocal, openSocket, ...(hasLocks && { locks }) });
  const page = (tabId: string, daemonUrl?: string): FakePage => new FakePage(controller, hasLocks).register(tabId, daemonUrl);
  const socket = (): FakeSocket => {
    const last = sockets.at(-1);
    if (!last) throw new Error('nothing was connected');
    return last;
  };
  return { controller, sockets, socket, page, freeLock: (name: string) => waiting.get(name)?.() };
}

class FakePage {
  readonly heard: ToPage[] = [];
  readonly #port: PortLike = { onmessage: null, postMessage: (message) => void this.heard.push(structuredClone(message)) };

  constructor(
    controller: MCPController,
    private readonly hasLocks: boolean,
  ) {
    controller.connect(this.#port);
  }

  register(tabId: string, daemonUrl = 'ws://daemon/page'): this {
    const lock = this.hasLocks ? `lock of ${tabId}` : '';
    const where = { url: 'http://localhost/', title: 'A page', visible: true, focused: false };
    const request: RegisterTabRequest = { type: 'REGISTER_TAB', tabId, documentId: `document of ${tabId}`, ...where, lock, daemonUrl };
    this.say(request);
    return this;
  }

  offer(...names: string[]): void {
    for (const name of names) {
      this.say({
        type: 'REGISTER_TOOL',
        tabId: 'whatever',
        name,
        description: name,
        inputSchema: { type: 'object' },
        handlerType: 'proxy',
        webMcp: false,
        requestId: 1,
      });
    }
  }

  say(message: ToWorker): void {
    this.sayAnything(message);
  }

  sayAnything(message: object): void {
    this.#port.onmessage?.(new MessageEvent('message', { data: structuredClone(message) }));
  }

  last(): ToPage | undefined {
    return this.heard.at(-1);
  }

  /** The last call that came. */
  call(): Extract<ToPage, { type: 'CALL_TOOL' }> {
    const call = this.heard.findLast((message) => message.type === 'CALL_TOOL');
    if (!call) throw new Error('no call came');
    return call;
  }
}

class FakeSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  readonly messages: JsonObject[] = [];
  isClosed = false;

  send(text: string): void {
    const message: JsonObject = JSON.parse(text);
    expect(complaint(message)).toBe('');
    this.messages.push(message);
  }

  close(): void {
    this.isClosed = true;
    this.drop();
  }

  open(): void {
    this.onopen?.(new Event('open'));
  }

  welcome(): void {
    this.open();
    this.say({ type: 'WELCOME', version: 1 });
  }

  say(message: FromDaemon): void {
    this.frame(JSON.stringify(message));
  }

  frame(data: unknown): void {
    this.onmessage?.(new MessageEvent('message', { data }));
  }

  call(callId: string, targetTabId: string, toolName: string, args: JsonObject = {}): void {
    this.say({ type: 'CALL_TOOL', callId, targetTabId, documentId: `document of ${targetTabId}`, toolName, args });
  }

  drop(): void {
    const event: unknown = new Event('close');
    const isClose = (value: unknown): value is CloseEvent => value instanceof Event;
    if (isClose(event)) this.onclose?.(event);
  }

  heard(type: string): JsonObject[] {
    return this.messages.filter((message) => message['type'] === type);
  }

  last(): JsonObject | undefined {
    return this.messages.at(-1);
  }
}
