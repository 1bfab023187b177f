/** The worker's registry of tabs and their tools, and the proxy between them and the daemon, which does the routing. */

import {
  type ActiveRequest,
  type CallAnswer,
  type Numbered,
  type RegisterTabRequest,
  SILENCE,
  type ToPage,
  type ToWorker,
  type UpdateTabRequest,
} from '../messages.js';
import {
  type CallOutcome,
  type CallTool,
  type FromDaemon,
  MAX_CALLS,
  type RegisterTool,
  type TabRecord,
  type UnregisterTool,
  type WorkerKind,
} from '../wire.js';
import { openRelay } from './relay.js';
import { DaemonSocket, type SocketLike } from './socket.js';

/** The part of `MessagePort` that is used here. */
export interface PortLike {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: ToPage, transfer?: Transferable[]): void;
}

/** What the controller needs from its worker. */
export interface WorkerWorld {
  kind: WorkerKind;
  /** The application is served from this machine, so it may connect to the daemon directly. */
  isLocal: boolean;
  openSocket(url: string): SocketLike;
  /** Shows when a document is gone, even after a crash. Missing on pages without TLS. */
  locks?: Pick<LockManager, 'request'> | undefined;
}

/** The document at the other end of a port. It has a tab once it is registered. */
export interface Page {
  port: PortLike;
  tab?: Tab | undefined;
}

interface Tab {
  record: TabRecord;
  page: Page;
  lock: string;
  tools: Map<string, RegisterTool>;
  /** Why the daemon refuses it. */
  refusal?: string | undefined;
  /** Another document that uses the id of this tab. */
  claim?: Claim | undefined;
  silence?: ReturnType<typeof setTimeout> | undefined;
  /** The connection to the daemon through this tab. */
  relay?: SocketLike;
}

interface Claim {
  page: Page;
  data: RegisterTabRequest;
  timer: ReturnType<typeof setTimeout>;
}

interface Call {
  /** The daemon's id of the call. */
  daemonId: string;
  tab: Tab;
  /** Whether the page has begun to run it. */
  begun: boolean;
}

export class MCPController {
  readonly #tabs = new Map<string, Tab>();
  readonly #calls = new Map<string, Call>();
  readonly #socket: DaemonSocket;
  /** Its length is always the same, so a number can be appended without ambiguity. */
  readonly #born = Date.now().toString(36);
  #callCount = 0;
  #active: { tabId: string; at: number } | undefined;
  #reason = '';
  /** Attempts to connect since the last connection. */
  #tries = 0;
  /** The lock that this worker holds while it runs. Empty until it has it. */
  #lock = '';

  constructor(private readonly world: WorkerWorld) {
    this.#holdLock(`tabmux:${this.#born}${Math.random()}`);
    this.#socket = new DaemonSocket(world.kind, (url) => this.#open(url), {
      onWelcome: () => this.#tellEverything(),
      onMessage: (message) => this.#handleDaemon(message),
      onLost: (reason) => this.#handleLost(reason),
    });
  }

  /** Accepts a page. The first message shows the page that the worker runs. */
  connect(port: PortLike): Page {
    const page: Page = { port };
    port.onmessage = (event: MessageEvent<ToWorker>) => this.#handlePage(event.data, page);
    port.postMessage({ type: 'PONG', worker: this.world.kind });
    return page;
  }

  /** Registers a tab, unless another one has its id: browsers copy the storage of a tab that is duplicated. */
  handleRegisterTab(data: RegisterTabRequest, page: Page): void {
    const holder = this.#tabs.get(data.tabId);
    if (!holder || holder.page === page) this.#admit(data, page);
    else if (holder.claim) page.port.postMessage({ type: 'TAB_ID_TAKEN' });
    else {
      // After a reload, the new document may register before the old one has unregistered.
      const timer = setTimeout(() => (holder.lock ? this.#refuseClaim(holder) : this.#remove(holder)), CLAIM_WAIT);
      holder.claim = { page, data, timer };
      holder.page.port.postMessage({ type: 'ARE_YOU_THERE' });
    }
  }

  /** Stores whether the user is in this tab. */
  handleSetActiveTab({ tabId, isActive = true }: Pick<ActiveRequest, 'tabId'> & { isActive?: boolean }): void {
    const tab = this.#tabs.get(tabId);
    if (!tab || (!isActive && this.#active?.tabId !== tabId)) return;
    const at = Date.now();
    if (isActive) tab.record.lastSeen = at;
    this.#active = isActive ? { tabId, at } : undefined;
    this.#tellActive(at);
    if (isActive) this.#socket.hurry();
  }

  /** Stores a tool's description. Calls of it are forwarded to the page. */
  handleRegisterTool(data: RegisterTool & Numbered, page: Page): void {
    const { requestId, ...tool } = data;
    const { tab } = page;
    const error = !tab
      ? 'This tab is not registered yet.'
      : tool.handlerType !== 'proxy'
        ? `Unsupported handlerType '${tool.handlerType as string}'; use 'proxy'.`
        : '';
    if (tab && !error) {
      tool.tabId = tab.record.tabId;
      tab.tools.set(tool.name, tool);
      this.#socket.send(tool);
    }
    page.port.postMessage(error ? { type: 'DONE', requestId, error } : { type: 'DONE', requestId });
  }

  handleUnregisterTool({ requestId, name }: UnregisterTool & Numbered, page: Page): void {
    const { tab } = page;
    if (tab?.tools.delete(name)) this.#socket.send({ type: 'UNREGISTER_TOOL', tabId: tab.record.tabId, name });
    page.port.postMessage({ type: 'DONE', requestId });
  }

  /** Forwards a handler's answer. Only the tab of the call may answer, and only once. */
  handleToolCallResult(answer: CallAnswer, page: Page): void {
    const call = this.#calls.get(answer.callId);
    if (!call || call.tab !== page.tab) return;
    call.tab.record.lastSeen = Date.now();
    this.#calls.delete(answer.callId);
    this.#socket.send({ ...answer, callId: call.daemonId });
  }

  /** The tabs and their tools, for debugging. */
  get tabs(): (TabRecord & { isActive: boolean; tools: string[] })[] {
    return [...this.#tabs.values()].map(({ record, tools }) => ({
      ...record,
      isActive: record.tabId === this.#active?.tabId,
      tools: [...tools.keys()],
    }));
  }

  /** Tries the extension and a direct connection in turns, each time through another tab, because one may hang. */
  #open(url: string): SocketLike {
    const tab = [...this.#tabs.values()][(this.#tries >> 1) % this.#tabs.size];
    const isDirect = this.world.isLocal || this.#tries++ & 1 || !tab;
    return isDirect ? this.world.openSocket(url) : (tab.relay = openRelay(tab.page.port));
  }

  #handlePage(message: ToWorker, page: Page): void {
    const { tab } = page;
    if (tab) this.#hear(tab, message);
    if (message.type === 'REGISTER_TAB') this.handleRegisterTab(message, page);
    else if (message.type === 'UPDATE_TAB') this.#update(message, page);
    else if (message.type === 'SET_ACTIVE_TAB') this.handleSetActiveTab(message);
    else if (message.type === 'REGISTER_TOOL') this.handleRegisterTool(message, page);
    else if (message.type === 'UNREGISTER_TOOL') this.handleUnregisterTool(message, page);
    else if (message.type === 'TOOL_CALL_RESULT') this.handleToolCallResult(message, page);
    else if (message.type === 'TOOL_CALL_BEGUN') {
      const call = this.#calls.get(message.callId);
      if (call && call.tab === tab) call.begun = true;
    } else if (message.type === 'UNREGISTER_TAB' && tab) this.#remove(tab, true);
    else if (message.type === 'PING') {
      page.port.postMessage({ type: 'PONG', worker: this.world.kind });
      if (!tab) page.port.postMessage({ type: 'TAB_UNKNOWN' });
    }
  }

  #hear(tab: Tab, message: ToWorker): void {
    if (message.type !== 'UNREGISTER_TAB') this.#refuseClaim(tab);
    if (tab.lock) return;
    clearTimeout(tab.silence);
    tab.silence = setTimeout(() => this.#remove(tab), SILENCE);
  }

  #admit({ type, daemonUrl, lock, ...given }: RegisterTabRequest, page: Page): void {
    if (page.tab) this.#remove(page.tab);
    const record: TabRecord = { ...given, lastSeen: Date.now() };
    const tab: Tab = { record, page, lock, tools: new Map() };
    page.tab = tab;
    this.#tabs.set(record.tabId, tab);
    if (this.world.locks && lock) this.#watch(tab, this.world.locks);
    this.#hear(tab, { type: 'PING' });
    page.port.postMessage({ type: 'TAB_REGISTERED', lock: this.#lock });
    this.#tellStatus(tab);
    this.#socket.send({ type, ...record });
    this.#socket.connectTo(daemonUrl);
  }

  /** Pages wait for this lock, and so notice that the worker was killed. */
  #holdLock(name: string): void {
    const held = this.world.locks?.request(name, () => {
      this.#lock = name;
      return new Promise<void>(() => {});
    });
    held?.catch(() => {});
  }

  /** The document holds the lock as long as it exists. When the worker gets it, the document is gone. */
  #watch(tab: Tab, locks: Pick<LockManager, 'request'>): void {
    // Its last messages may arrive later, because locks are faster than ports.
    const isGone = (): unknown => setTimeout(() => this.#remove(tab), LAST_WORDS);
    locks.request(tab.lock, isGone).catch(isGone);
  }

  #update({ type, ...record }: UpdateTabRequest, { tab }: Page): void {
    if (!tab) return;
    tab.record = { ...record, tabId: tab.record.tabId, lastSeen: tab.record.lastSeen };
    this.#socket.send({ type, ...tab.record });
  }

  /** After a regular leave, calls that did not begin get no answer: the daemon sends them to another tab. */
  #remove(tab: Tab, isLeaving = false): void {
    const { tabId } = tab.record;
    if (this.#tabs.get(tabId) !== tab) return;
    this.#tabs.delete(tabId);
    tab.page.tab = undefined;
    tab.relay?.close();
    clearTimeout(tab.silence);
    for (const [callId, call] of this.#calls) {
      if (call.tab !== tab) continue;
      if (isLeaving && !call.begun) this.#calls.delete(callId);
      else this.#answer(callId, failure('gone', 'The page went away.'));
    }
    this.#leaveFront(tabId);
    this.#socket.send({ type: 'UNREGISTER_TAB', tabId });
    // The daemon may accept others now.
    for (const other of this.#tabs.values()) if (other.refusal) this.#tellDaemon(other);
    const { claim } = tab;
    if (claim) {
      clearTimeout(claim.timer);
      this.#admit(claim.data, claim.page);
    } else if (this.#tabs.size === 0) this.#socket.disconnect();
  }

  /** A tab that is gone cannot be the active one. */
  #leaveFront(tabId: string): void {
    if (this.#active?.tabId !== tabId) return;
    this.#active = undefined;
    this.#tellActive(Date.now());
  }

  #refuseClaim(tab: Tab): void {
    if (!tab.claim) return;
    clearTimeout(tab.claim.timer);
    tab.claim.page.port.postMessage({ type: 'TAB_ID_TAKEN' });
    tab.claim = undefined;
  }

  #handleDaemon(message: FromDaemon): void {
    if (message.type === 'CALL_TOOL') this.#call(message);
    else if (message.type === 'CANCEL_CALL') this.#cancel(message.callId);
    else if (message.type === 'TAB_REFUSED' || message.type === 'TOOL_REJECTED') {
      const tab = this.#tabs.get(message.tabId);
      // A refused tab already knows the reason for its tools.
      if (!tab || tab.refusal) return;
      const { reason } = message;
      const { port } = tab.page;
      if (message.type === 'TOOL_REJECTED') port.postMessage({ type: message.type, name: message.name, reason });
      else if (message.anotherId) {
        this.#remove(tab);
        port.postMessage({ type: 'TAB_ID_TAKEN' });
      } else {
        tab.refusal = reason;
        port.postMessage({ type: message.type, reason });
        this.#tellStatus(tab);
      }
    }
  }

  /** Forwards a call to its tab, under an id of our own, because a restarted daemon uses its ids again. */
  #call({ callId: daemonId, targetTabId, documentId, toolName, args }: CallTool): void {
    const tab = this.#tabs.get(targetTabId);
    const isKnown = [...this.#calls.values()].some((call) => call.daemonId === daemonId);
    if (isKnown) return;
    const refusal = !tab
      ? failure('no_tab', `There is no tab '${targetTabId}'.`)
      : tab.record.documentId !== documentId || !tab.tools.has(toolName)
        ? failure('no_tool', `The tab has no tool '${toolName}'.`)
        : this.#calls.size >= MAX_CALLS && failure('busy', `${MAX_CALLS} calls run already; wait for one.`);
    if (refusal) this.#socket.send({ type: 'TOOL_CALL_RESULT', callId: daemonId, ...refusal });
    else if (tab) {
      const callId = this.#born + ++this.#callCount;
      this.#calls.set(callId, { daemonId, tab, begun: false });
      tab.record.lastSeen = Date.now();
      tab.page.port.postMessage({ type: 'CALL_TOOL', callId, targetTabId, toolName, args });
    }
  }

  #cancel(daemonId: string): void {
    for (const [callId, call] of this.#calls) {
      if (call.daemonId !== daemonId) continue;
      call.tab.page.port.postMessage({ type: 'CANCEL_CALL', callId });
      this.#answer(callId, failure('cancelled', 'The call was cancelled.'));
    }
  }

  #answer(callId: string, outcome: CallOutcome): void {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call) this.#socket.send({ type: 'TOOL_CALL_RESULT', callId: call.daemonId, ...outcome });
  }

  /** The callers are gone with the daemon, so running calls are cancelled. */
  #handleLost(reason: string): void {
    for (const [callId, call] of this.#calls) call.tab.page.port.postMessage({ type: 'CANCEL_CALL', callId });
    this.#calls.clear();
    this.#reason = reason;
    for (const tab of this.#tabs.values()) this.#tellStatus(tab);
  }

  #tellEverything(): void {
    this.#reason = '';
    this.#tries = 0;
    for (const tab of this.#tabs.values()) this.#tellDaemon(tab);
    if (this.#active) this.#socket.send({ type: 'SET_ACTIVE_TAB', ...this.#active });
  }

  #tellDaemon(tab: Tab): void {
    tab.refusal = undefined;
    this.#socket.send({ type: 'REGISTER_TAB', ...tab.record });
    for (const tool of tab.tools.values()) this.#socket.send(tool);
    this.#tellStatus(tab);
  }

  #tellStatus({ page, refusal }: Tab): void {
    page.port.postMessage({ type: 'CONNECTION_STATUS', connected: this.#socket.isWelcome && !refusal, reason: refusal ?? this.#reason });
    page.port.postMessage({ type: 'ACTIVE_TAB', tabId: this.#active?.tabId ?? null });
  }

  #tellActive(at: number): void {
    const tabId = this.#active?.tabId ?? null;
    this.#socket.send({ type: 'SET_ACTIVE_TAB', tabId, at });
    for (const { page } of this.#tabs.values()) page.port.postMessage({ type: 'ACTIVE_TAB', tabId });
  }
}

function failure(code: Extract<CallOutcome, { success: false }>['code'], error: string): CallOutcome {
  return { success: false, code, error };
}

/** How long the last messages of a document may take. */
const LAST_WORDS = 100;
/** How long a document has time to answer when another one uses its tab's id. */
const CLAIM_WAIT = 1000;
