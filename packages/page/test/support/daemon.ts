/** A daemon for tests: takes the workers' connections, keeps what they tell, and calls tools. It routes nothing. */

import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonObject } from '../../src/json.js';
import type { CallOutcome, FromDaemon, RegisterTool, TabRecord, ToDaemon } from '../../src/wire.js';
import { complaint } from './contract.js';

export interface KnownTab {
  record: TabRecord;
  tools: Map<string, RegisterTool>;
  origin: string;
  send(message: FromDaemon): void;
}

export class FakeDaemon {
  readonly tabs = new Map<string, KnownTab>();
  readonly log: JsonObject[] = [];
  readonly sockets = new Set<WebSocket>();
  active: string | null = null;
  refusal = '';
  #answers = new Map<string, (outcome: CallOutcome) => void>();
  #changes = new Set<() => void>();
  #calls = 0;

  private constructor(private readonly server: WebSocketServer) {
    server.on('connection', (socket, request) => this.#take(socket, request.headers.origin ?? ''));
  }

  static async start(port = 0): Promise<FakeDaemon> {
    const server = new WebSocketServer({ host: '127.0.0.1', port, path: '/page', perMessageDeflate: false });
    await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
    return new FakeDaemon(server);
  }

  get port(): number {
    const address = this.server.address();
    if (!isAddress(address)) throw new Error('the daemon does not listen');
    return address.port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/page`;
  }

  /** Waits until something is true; looks again with every message. */
  async until<T>(look: () => T | undefined | false | null | ''): Promise<T> {
    for (;;) {
      const found = look();
      if (found) return found;
      await new Promise<void>((resolve) => this.#changes.add(resolve));
    }
  }

  /** The tab, once it is there with these tools and no others. */
  tab(tabId: string, ...tools: string[]): Promise<KnownTab> {
    return this.until(() => {
      const tab = this.tabs.get(tabId);
      return tab && [...tab.tools.keys()].sort().join() === tools.sort().join() && tab;
    });
  }

  async call(tabId: string, toolName: string, args: JsonObject = {}, documentId?: string): Promise<CallOutcome> {
    return this.begin(tabId, toolName, args, documentId).outcome;
  }

  begin(tabId: string, toolName: string, args: JsonObject = {}, documentId?: string): { callId: string; outcome: Promise<CallOutcome> } {
    const tab = this.tabs.get(tabId);
    if (!tab) throw new Error(`the daemon does not know ${tabId}`);
    const callId = String(++this.#calls);
    const outcome = new Promise<CallOutcome>((resolve) => this.#answers.set(callId, resolve));
    tab.send({ type: 'CALL_TOOL', callId, targetTabId: tabId, documentId: documentId ?? tab.record.documentId, toolName, args });
    return { callId, outcome };
  }

  count(type: ToDaemon['type']): number {
    return this.log.filter((message) => message['type'] === type).length;
  }

  /** Dies as a process does: everything is cut. */
  async stop(): Promise<void> {
    for (const socket of this.server.clients) socket.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #take(socket: WebSocket, origin: string): void {
    this.sockets.add(socket);
    const send = (message: FromDaemon): void => socket.send(JSON.stringify(message));
    const mine = new Set<string>();
    socket.on('message', (data) => {
      const message: ToDaemon & JsonObject = JSON.parse(String(data));
      this.log.push(message);
      const wrong = complaint(message);
      if (wrong) throw new Error(`${String(data)}: ${wrong}`);
      this.#handle(message, { origin, send, mine });
      this.#changed();
    });
    socket.on('close', () => {
      this.sockets.delete(socket);
      for (const tabId of mine) if (this.tabs.get(tabId)?.send === send) this.tabs.delete(tabId);
      this.#changed();
    });
    this.#changed();
  }

  #handle(message: ToDaemon, { origin, send, mine }: { origin: string; send: KnownTab['send']; mine: Set<string> }): void {
    if (message.type === 'HELLO') {
      send(this.refusal ? { type: 'REFUSED', reason: this.refusal } : { type: 'WELCOME', version: 1 });
    } else if (message.type === 'REGISTER_TAB') {
      const { type: _, ...record } = message;
      mine.add(record.tabId);
      this.tabs.set(record.tabId, { record, tools: new Map(), origin, send });
    } else if (message.type === 'UPDATE_TAB') {
      const { type: _, ...record } = message;
      const tab = this.tabs.get(record.tabId);
      if (tab) tab.record = record;
    } else if (message.type === 'UNREGISTER_TAB') this.tabs.delete(message.tabId);
    else if (message.type === 'SET_ACTIVE_TAB') this.active = message.tabId;
    else if (message.type === 'REGISTER_TOOL') this.tabs.get(message.tabId)?.tools.set(message.name, message);
    else if (message.type === 'UNREGISTER_TOOL') this.tabs.get(message.tabId)?.tools.delete(message.name);
    else if (message.type === 'PING') send({ type: 'PONG' });
    else if (message.type === 'TOOL_CALL_RESULT') {
      const { type: _, callId, ...outcome } = message;
      const answer = this.#answers.get(callId);
      if (!answer) throw new Error(`the call ${callId} was answered twice`);
      this.#answers.delete(callId);
      answer(outcome as CallOutcome);
    }
  }

  #changed(): void {
    const waiting = [...this.#changes];
    this.#changes.clear();
    for (const wake of waiting) wake();
  }
}

function isAddress(value: unknown): value is AddressInfo {
  return typeof value === 'object' && value !== null;
}
