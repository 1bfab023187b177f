/** The page's half of the library: keeps the handlers, runs them for the worker, and reports the tab and its tools to it. */

import type { JsonObject } from './json.js';
import { type Link, type LinkOptions, openLink } from './link.js';
import { type PageRecord, PING_EVERY, type ToPage } from './messages.js';
import { clearTabId, freshId, replaceTabId, takeTabId } from './tab-id.js';
import { makeTool, type Tool, type ToolHandler, type ToolOptions, TooLarge, toResult } from './tool.js';
import { offer } from './web-mcp.js';
import { DEFAULT_DAEMON_URL, type RegisterTool, type ToolDefinition, type WorkerKind } from './wire.js';

export interface InitOptions extends LinkOptions {
  /** Where the daemon listens. */
  daemonUrl?: string;
  /** Whether tools are registered with the page's WebMCP as well. */
  webMcp?: boolean;
}

/** This tab, as `getTabInfo` returns it. */
export interface TabInfo {
  tabId: string;
  /** Whether this is the active one of the application's tabs. */
  isActive: boolean;
  url: string;
  title: string;
}

export interface ConnectionStatus {
  /** Whether the daemon is connected and knows the tools. */
  connected: boolean;
  /** The kind of worker in use. */
  worker: WorkerKind | null;
  /** Why there is no connection, if known. */
  reason: string;
}

export class WorkerClient {
  readonly #toolHandlers = new Map<string, OfferedTool>();
  readonly #running = new Map<string, AbortController>();
  readonly #requests = new Map<number, (error?: string) => void>();
  readonly #toolListeners = new Set<(names: string[]) => void>();
  readonly #statusListeners = new Set<(status: ConnectionStatus) => void>();
  #options: InitOptions = {};
  #starting: Promise<void> | undefined;
  #link: Link | undefined;
  #tabId: string | undefined;
  /** New with each registration, so that a late call for an earlier registration is not run. */
  #documentId = '';
  /** The worker has registered this tab, so tools can be sent to it. */
  #isRegistered = false;
  /** Counts registrations, so that an outdated one stops. */
  #attempt = 0;
  #onVerdict: ((isTaken: boolean) => void) | undefined;
  #releaseLock: (() => void) | undefined;
  #watch: AbortController | undefined;
  #activeTabId: string | null = null;
  #status: ConnectionStatus = { connected: false, worker: null, reason: '' };
  #requestCount = 0;
  #missedPongs = 0;
  #relinkWait = FIRST_RELINK;
  #told = '';
  #updateTimer: ReturnType<typeof setTimeout> | undefined;
  #pings: ReturnType<typeof setInterval> | undefined;

  /** Starts the worker and registers this tab and its tools. Works without a daemon: one that starts later gets everything. */
  init(options: InitOptions = {}): Promise<void> {
    this.#starting ??= this.#start(options).catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  /**
   * Offers a tool to agents. Before `init` it is only stored; afterwards the promise settles when the worker has it. A
   * second tool of the same name replaces the first.
   */
  registerTool(name: string, handler: ToolHandler, options?: ToolOptions): Promise<void>;
  registerTool(name: string, description: string, schema: object, handler: ToolHandler, options?: ToolOptions): Promise<void>;
  async registerTool(name: string, ...rest: unknown[]): Promise<void> {
    const tool: OfferedTool = { ...makeTool(name, rest), webMcp: undefined };
    this.#toolHandlers.get(name)?.webMcp?.();
    this.#toolHandlers.set(name, tool);
    this.#offerToWebMcp(tool);
    this.#tellToolListeners();
    await this.#sendTool(tool);
  }

  /** Removes a tool; with a handler, only if the tool still has that handler. Returns whether a tool was removed. */
  async unregisterTool(name: string, handler?: ToolHandler): Promise<boolean> {
    const tool = this.#toolHandlers.get(name);
    if (!tool || (handler && tool.handler !== handler)) return false;
    this.#toolHandlers.delete(name);
    tool.webMcp?.();
    this.#tellToolListeners();
    if (this.#isRegistered) {
      await this.#request((requestId) => ({ type: 'UNREGISTER_TOOL', tabId: this.getTabId(), name, requestId }));
    }
    return true;
  }

  /** The tools that this tab offers now. */
  getRegisteredTools(): ToolDefinition[] {
    return [...this.#toolHandlers.values()].map((tool) => tool.definition);
  }

  /** Calls the listener with the names whenever this tab's tools change. Returns a function that ends this. */
  onToolChange(listener: (names: string[]) => void): () => void {
    return subscribe(this.#toolListeners, listener);
  }

  getTabId(): string {
    this.#tabId ??= takeTabId();
    return this.#tabId;
  }

  getTabInfo(): TabInfo {
    const tabId = this.getTabId();
    return { tabId, isActive: tabId === this.#activeTabId, url: location.href, title: document.title };
  }

  getConnectionStatus(): ConnectionStatus {
    return { ...this.#status };
  }

  /** Calls the listener whenever the connection status changes. Returns a function that ends this. */
  onConnectionStatus(listener: (status: ConnectionStatus) => void): () => void {
    return subscribe(this.#statusListeners, listener);
  }

  /** Forgets the tab's id, so that it gets a new one with the next refresh. For tests. */
  static clearTabId(): void {
    clearTabId();
  }

  async #start(options: InitOptions): Promise<void> {
    if (typeof document === 'undefined') throw new Error('WorkerClient.init() needs a page.');
    this.#options = options;
    if (Reflect.get(document, 'prerendering')) await once(document, 'prerenderingchange');
    for (const tool of this.#toolHandlers.values()) this.#offerToWebMcp(tool);
    this.#listen();
    await this.#connect();
  }

  async #connect(): Promise<void> {
    const link = await openLink(this.#options, (message, ports) => {
      if (this.#link === link) this.#receive(message, ports);
    });
    this.#link = link;
    this.#missedPongs = 0;
    this.#setStatus({ worker: link.kind });
    await this.#register();
  }

  /** The worker has stopped or does not answer: connects to a new one and registers everything again. */
  #relink(lost: Link): void {
    if (this.#link !== lost) return;
    this.#detach();
    lost.close();
    this.#link = undefined;
    this.#setStatus({ connected: false, worker: null, reason: 'The worker has stopped.' });
    const again = (): void => {
      this.#connect().then(
        () => (this.#relinkWait = FIRST_RELINK),
        () => {
          setTimeout(again, this.#relinkWait);
          this.#relinkWait = Math.min(this.#relinkWait * 2, PING_EVERY);
        },
      );
    };
    again();
  }

  async #register(): Promise<void> {
    this.#isRegistered = false;
    const attempt = ++this.#attempt;
    const lock = await this.#holdLock();
    if (attempt !== this.#attempt) return;
    const verdict = new Promise<boolean>((resolve) => (this.#onVerdict = resolve));
    // If tabmux controls this browser, its script answers with a nonce at once.
    dispatchEvent(new Event('tabmux-hello'));
    this.#documentId = freshId();
    const record = this.#record();
    this.#told = JSON.stringify(record);
    this.#link?.post({ type: 'REGISTER_TAB', ...record, daemonUrl: this.#options.daemonUrl ?? DEFAULT_DAEMON_URL, lock });
    const isTaken = await verdict;
    if (attempt !== this.#attempt) return;
    if (isTaken) return this.#takeAnotherId();
    this.#isRegistered = true;
    // All are sent before the first answer comes, so the daemon can treat them as one change.
    const sent = [...this.#toolHandlers.values()].map((tool) => this.#sendTool(tool));
    if (document.visibilityState === 'visible') this.#setActive(true);
    await Promise.all(sent);
  }

  #takeAnotherId(): Promise<void> {
    this.#settleRequests();
    this.#tabId = replaceTabId(this.getTabId());
    return this.#register();
  }

  /** Requests are repeated by the next registration, and the worker has answered the running calls. */
  #settleRequests(): void {
    for (const call of this.#running.values()) call.abort();
    for (const settle of this.#requests.values()) settle();
    this.#requests.clear();
  }

  /** This document holds a lock as long as it exists. The worker waits for the lock, and so notices the end, even a crash. */
  async #holdLock(): Promise<string> {
    this.#releaseLock?.();
    const { locks } = navigator;
    if (!locks) return '';
    const name = `tabmux:${freshId()}`;
    return new Promise((resolve) => {
      locks
        .request(name, () => {
          resolve(name);
          return new Promise<void>((release) => (this.#releaseLock = release));
        })
        .catch(() => resolve(''));
    });
  }

  /** The worker holds a lock, too. When this page gets it, the worker has stopped. */
  #watchWorker(lock: string): void {
    const link = this.#link;
    const { signal } = (this.#watch = new AbortController());
    if (lock && link) navigator.locks?.request(lock, { signal }, () => this.#relink(link)).catch(() => {});
    this.#onVerdict?.(false);
  }

  #listen(): void {
    if (this.#pings) return;
    this.#pings = setInterval(() => this.#ping(), PING_EVERY);
    addEventListener('focus', () => this.#setActive(true));
    addEventListener('blur', () => this.#update());
    document.addEventListener('visibilitychange', () => this.#setActive(document.visibilityState === 'visible'));
    // The document ends or goes into the back/forward cache: the tab offers no tools until a document registers again.
    addEventListener('pagehide', () => this.#detach());
    addEventListener('pageshow', (event) => {
      if (event.persisted) void this.#register();
    });
    addEventListener('tabmux-nonce', () => this.#update());
    const later = (): void => this.#updateSoon();
    for (const name of ['popstate', 'hashchange']) addEventListener(name, later);
    const navigation: unknown = Reflect.get(window, 'navigation');
    if (navigation instanceof EventTarget) navigation.addEventListener('currententrychange', later);
    new MutationObserver(later).observe(document.head ?? document, { subtree: true, childList: true, characterData: true });
  }

  #ping(): void {
    const link = this.#link;
    if (!link) return;
    if (this.#missedPongs > 1) {
      this.#relink(link);
      return;
    }
    this.#missedPongs += 1;
    link.wake();
    link.post({ type: 'PING' });
    this.#update();
  }

  #detach(): void {
    this.#isRegistered = false;
    this.#attempt += 1;
    this.#onVerdict?.(false);
    this.#link?.post({ type: 'UNREGISTER_TAB' });
    this.#settleRequests();
    this.#releaseLock?.();
    this.#watch?.abort();
  }

  #receive(message: ToPage, ports: MessagePort[]): void {
    // A call that comes after the tab was unregistered is dropped: the page may be back from the cache by now.
    if (message.type === 'CALL_TOOL') void (this.#isRegistered && this.#handleToolCall(message.toolName, message.args, message.callId));
    else if (message.type === 'CANCEL_CALL') this.#running.get(message.callId)?.abort();
    else if (message.type === 'PONG') this.#missedPongs = 0;
    else if (message.type === 'RELAY') postMessage('tabmux-relay', '/', ports);
    else if (message.type === 'ARE_YOU_THERE') this.#link?.post({ type: 'PING' });
    else if (message.type === 'TAB_REGISTERED') this.#watchWorker(message.lock);
    else if (message.type === 'TAB_ID_TAKEN') {
      if (this.#isRegistered) void this.#takeAnotherId();
      else this.#onVerdict?.(true);
    } else if (message.type === 'TAB_REFUSED') console.warn(`tabmux refuses this tab: ${message.reason}`);
    else if (message.type === 'TAB_UNKNOWN' && this.#isRegistered) void this.#register();
    else if (message.type === 'ACTIVE_TAB') this.#activeTabId = message.tabId;
    else if (message.type === 'CONNECTION_STATUS') this.#setStatus({ connected: message.connected, reason: message.reason });
    else if (message.type === 'TOOL_REJECTED') console.warn(`tabmux refuses the tool '${message.name}': ${message.reason}`);
    else if (message.type === 'DONE') {
      this.#requests.get(message.requestId)?.(message.error);
      this.#requests.delete(message.requestId);
    }
  }

  async #handleToolCall(toolName: string, args: JsonObject, callId: string): Promise<void> {
    const link = this.#link;
    const call = new AbortController();
    this.#running.set(callId, call);
    link?.post({ type: 'TOOL_CALL_BEGUN', callId });
    try {
      const tool = this.#toolHandlers.get(toolName);
      if (!tool) throw new Error(`This page has no tool '${toolName}'.`);
      const result = await run(tool, args, call.signal);
      link?.post({ type: 'TOOL_CALL_RESULT', callId, success: true, result });
    } catch (error) {
      const code = error instanceof TooLarge ? 'too_large' : 'failed';
      link?.post({ type: 'TOOL_CALL_RESULT', callId, success: false, error: messageOf(error), code });
    } finally {
      this.#running.delete(callId);
    }
  }

  #offerToWebMcp(tool: OfferedTool): void {
    if (tool.webMcp || this.#options.webMcp === false) return;
    const onRefused = (): void => {
      tool.webMcp = undefined;
      if (this.#toolHandlers.get(tool.definition.name) === tool) void this.#sendTool(tool);
    };
    tool.webMcp = offer(tool.definition, (args, { signal }) => run(tool, args, signal), onRefused);
  }

  async #sendTool(tool: OfferedTool): Promise<void> {
    if (!this.#isRegistered) return;
    const message: RegisterTool = {
      type: 'REGISTER_TOOL',
      tabId: this.getTabId(),
      ...tool.definition,
      handlerType: 'proxy',
      webMcp: tool.webMcp !== undefined,
    };
    await this.#request((requestId) => ({ ...message, requestId }));
  }

  #request(message: (requestId: number) => Parameters<Link['post']>[0]): Promise<void> {
    const requestId = ++this.#requestCount;
    return new Promise((resolve, reject) => {
      this.#requests.set(requestId, (error) => (error ? reject(new Error(error)) : resolve()));
      this.#link?.post(message(requestId));
    });
  }

  #setActive(isActive: boolean): void {
    if (!this.#isRegistered) return;
    this.#link?.post({ type: 'SET_ACTIVE_TAB', tabId: this.getTabId(), isActive });
    this.#update();
  }

  /** Delayed, because some pages change their title with every frame. */
  #updateSoon(): void {
    this.#updateTimer ??= setTimeout(() => this.#update(), 100);
  }

  #update(): void {
    clearTimeout(this.#updateTimer);
    this.#updateTimer = undefined;
    const record = this.#record();
    const text = JSON.stringify(record);
    if (!this.#isRegistered || text === this.#told) return;
    this.#told = text;
    this.#link?.post({ type: 'UPDATE_TAB', ...record });
  }

  #record(): PageRecord {
    const nonce: unknown = Reflect.get(window, NONCE);
    return {
      tabId: this.getTabId(),
      documentId: this.#documentId,
      url: location.href,
      title: document.title,
      visible: document.visibilityState === 'visible',
      focused: document.hasFocus(),
      ...(typeof nonce === 'string' && { nonce }),
    };
  }

  #setStatus(change: Partial<ConnectionStatus>): void {
    const before = JSON.stringify(this.#status);
    this.#status = { ...this.#status, ...change };
    if (before === JSON.stringify(this.#status)) return;
    for (const listener of this.#statusListeners) listener(this.getConnectionStatus());
  }

  #tellToolListeners(): void {
    const names = [...this.#toolHandlers.keys()];
    for (const listener of this.#toolListeners) listener(names);
  }
}

interface OfferedTool extends Tool {
  /** Removes the tool from WebMCP. */
  webMcp: (() => void) | undefined;
}

async function run(tool: Tool, args: unknown, signal: AbortSignal): Promise<ReturnType<typeof toResult>> {
  return toResult(await tool.handler(args, { signal }), tool);
}

/** The message of anything that a handler throws. */
function messageOf(error: unknown): string {
  const text = (error as Error | undefined)?.message || error;
  return typeof text === 'object' ? 'It failed.' : String(text);
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function once(target: EventTarget, name: string): Promise<unknown> {
  return new Promise((resolve) => target.addEventListener(name, resolve, { once: true }));
}

/** Where tabmux puts the nonce after `tabmux-hello`. If it comes later, it fires `tabmux-nonce` at the window. */
const NONCE = Symbol.for('tabmux.nonce');
const FIRST_RELINK = 500;
