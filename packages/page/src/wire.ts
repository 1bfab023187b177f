/** What the worker and the daemon say to each other on the websocket `/page`; `docs/page-protocol.md` tells it to people. */

/** Goes up when an old daemon and a new worker, or the other way round, could no longer talk. */
export const PROTOCOL_VERSION = 1;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

/** What MCP says about how a tool behaves. Hints, from a page: nobody may trust them. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
  /** From WebMCP: the tool does something that matters, so a person should agree first. */
  consequentialHint?: boolean;
  /** From WebMCP: what the tool answers may hold text that strangers wrote. */
  untrustedContentHint?: boolean;
}

/** A tool as an agent will see it; its handler never leaves the page. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
}

/** A tab as the worker knows it. */
export interface TabRecord {
  /** Names the tab within its connection; not secret, and no proof of anything. */
  tabId: string;
  /** Names this showing of the document in the tab; whatever shows next, and be it the same from the cache, brings another one. */
  documentId: string;
  url: string;
  title: string;
  /** The document is visible. */
  visible: boolean;
  /** The document has the keyboard. */
  focused: boolean;
  /** When the tab was last opened, focused or used, in milliseconds since 1970. */
  lastSeen: number;
  /** What the daemon itself put into the document, to learn which browser tab this is. */
  nonce?: string;
}

/** The first message on every connection. */
export interface Hello {
  type: 'HELLO';
  version: number;
  /** The version of this library. */
  library: string;
  /** What kind of worker speaks. */
  worker: WorkerKind;
}

export type WorkerKind = 'shared' | 'service' | 'dedicated';

/** A tab is there, with no tools yet; one that was known by this id is replaced, and its tools are gone. */
export interface RegisterTab extends TabRecord {
  type: 'REGISTER_TAB';
}

/** Something about a tab is different now: the whole record, its tools stay. */
export interface UpdateTab extends TabRecord {
  type: 'UPDATE_TAB';
}

/** A tab was closed, has crashed or has left the application; its tools are gone. Calls without an answer never began. */
export interface UnregisterTab {
  type: 'UNREGISTER_TAB';
  tabId: string;
}

/** The user has this tab in front since `at`, or none of this worker's tabs if `tabId` is null. */
export interface SetActiveTab {
  type: 'SET_ACTIVE_TAB';
  tabId: string | null;
  at: number;
}

/** A tab offers a tool; one of the same name in the same tab is replaced. */
export interface RegisterTool extends ToolDefinition {
  type: 'REGISTER_TOOL';
  tabId: string;
  /** The handler stays in the page, and calls are sent there. There is no other kind. */
  handlerType: 'proxy';
  /** The same tool is registered with the page's `modelContext` too, so whoever sees both shows one. */
  webMcp: boolean;
}

/** A tab no longer offers a tool. */
export interface UnregisterTool {
  type: 'UNREGISTER_TOOL';
  tabId: string;
  name: string;
}

/** The one answer to a call. */
export type ToolCallResult = { type: 'TOOL_CALL_RESULT'; callId: string } & CallOutcome;

/** A result as MCP has it, or a sentence about what went wrong. */
export type CallOutcome = { success: true; result: CallToolResult } | { success: false; error: string; code: CallErrorCode };

export interface CallToolResult {
  content: JsonObject[];
  structuredContent?: JsonObject;
  isError?: boolean;
}

/**
 * `failed`: the handler threw. `no_tab`: no such tab. `no_tool`: no such tool in the tab, or it shows another document
 * than the caller meant; after both, nothing ran. `gone`: the document went away before it answered. `cancelled`: the
 * daemon cancelled the call. `too_large`: the result is over the limit. `busy`: too many calls are running.
 */
export type CallErrorCode = 'failed' | 'no_tab' | 'no_tool' | 'gone' | 'cancelled' | 'too_large' | 'busy';

/** Asks for `PONG`; both sides may. */
export interface Ping {
  type: 'PING';
}

/** Answers `PING`. */
export interface Pong {
  type: 'PONG';
}

/** The daemon takes the connection; only then does the worker send anything more. */
export interface Welcome {
  type: 'WELCOME';
  version: number;
}

/** The daemon does not want this worker; it says why and closes. */
export interface Refused {
  type: 'REFUSED';
  reason: string;
}

/** The daemon does not take this tab in, or no longer. */
export interface TabRefused {
  type: 'TAB_REFUSED';
  tabId: string;
  /** It would be welcome under another id. */
  anotherId: boolean;
  reason: string;
}

/** The daemon does not publish this tool; everything else goes on. */
export interface ToolRejected {
  type: 'TOOL_REJECTED';
  tabId: string;
  name: string;
  reason: string;
}

/** Run a tool, once, in this tab and no other. */
export interface CallTool {
  type: 'CALL_TOOL';
  /** Fresh for every call of the connection. */
  callId: string;
  targetTabId: string;
  /** The document that offered the tool; if the tab has another by now, the call is refused. */
  documentId: string;
  toolName: string;
  /** Checked against the tool's schema already, and without `tabId`. */
  args: JsonObject;
}

/** Nobody waits for this call any more; it is answered all the same, with `cancelled`. */
export interface CancelCall {
  type: 'CANCEL_CALL';
  callId: string;
}

export type ToDaemon = Hello | RegisterTab | UpdateTab | UnregisterTab | SetActiveTab | RegisterTool | UnregisterTool | ToolCallResult | Ping | Pong;

export type FromDaemon = Welcome | Refused | TabRefused | ToolRejected | CallTool | CancelCall | Ping | Pong;

/** Where the daemon listens unless told otherwise. */
export const DEFAULT_DAEMON_URL = 'ws://127.0.0.1:8765/page';

/** The longest result in characters of JSON; the daemon's limit for a message has room for it. */
export const MAX_RESULT = 8 * 1024 * 1024;

/** Calls that may run at the same time in one worker. */
export const MAX_CALLS = 256;

/** The message in a frame from the daemon, or nothing if it is none. */
export function fromDaemon(frame: unknown): FromDaemon | undefined {
  const message = parse(frame);
  if (!isRecord(message)) return undefined;
  const texts = TEXTS.get(message['type']);
  if (message['type'] === 'CALL_TOOL' && !isRecord(message['args'])) message['args'] = {};
  return texts?.every((name) => isText(message[name])) ? (message as unknown as FromDaemon) : undefined;
}

/** What the daemon says, and what of it has to be a text. */
const TEXTS = new Map<unknown, string[]>([
  ['PING', []],
  ['PONG', []],
  ['WELCOME', []],
  ['REFUSED', ['reason']],
  ['CANCEL_CALL', ['callId']],
  ['TAB_REFUSED', ['tabId', 'reason']],
  ['TOOL_REJECTED', ['tabId', 'name', 'reason']],
  ['CALL_TOOL', ['callId', 'targetTabId', 'documentId', 'toolName']],
]);

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function parse(frame: unknown): unknown {
  try {
    return isText(frame) ? JSON.parse(frame) : undefined;
  } catch {
    return undefined;
  }
}
