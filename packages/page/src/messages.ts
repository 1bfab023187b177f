/** What a page and its worker say to each other through a port: the wire's own words, and a few more. */

import type { CallOutcome, JsonObject, RegisterTool, TabRecord, UnregisterTool, WorkerKind } from './wire.js';

/** A tab as its page knows it; when it was last seen is the worker's business. */
export type PageRecord = Omit<TabRecord, 'lastSeen'>;

/** Asks the worker to hold this tab; answered with `TAB_REGISTERED` or `TAB_ID_TAKEN`. */
export interface RegisterTabRequest extends PageRecord {
  type: 'REGISTER_TAB';
  /** Where the worker finds the daemon; the newest wish counts. */
  daemonUrl: string;
  /** A Web Lock that this document holds as long as it lives; empty where there are no locks. */
  lock: string;
}

/** The page's own view of its tab changed. */
export interface UpdateTabRequest extends PageRecord {
  type: 'UPDATE_TAB';
}

/** The page goes away, or into the back/forward cache. */
export interface LeaveRequest {
  type: 'UNREGISTER_TAB';
}

/** The user came to this tab, or it is hidden now. */
export interface ActiveRequest {
  type: 'SET_ACTIVE_TAB';
  tabId: string;
  isActive: boolean;
}

/** A handler is about to run. What has not begun when the page leaves never will. */
export interface CallBegun {
  type: 'TOOL_CALL_BEGUN';
  callId: string;
}

/** The one answer of a handler. */
export type CallAnswer = { type: 'TOOL_CALL_RESULT'; callId: string } & CallOutcome;

/** Asked now and then: keeps a service worker awake, and shows both sides that the other lives. */
export interface PingRequest {
  type: 'PING';
}

export type ToWorker =
  | RegisterTabRequest
  | UpdateTabRequest
  | LeaveRequest
  | ActiveRequest
  | (RegisterTool & Numbered)
  | (UnregisterTool & Numbered)
  | CallBegun
  | CallAnswer
  | PingRequest;

/** A request that the worker answers with `DONE`. */
export interface Numbered {
  requestId: number;
}

export type ToPage =
  /** The worker holds this tab, and a Web Lock as long as it lives. */
  | { type: 'TAB_REGISTERED'; lock: string }
  /** A live tab has this id, because the browser copied its storage: take another one. Comes late if the daemon says so. */
  | { type: 'TAB_ID_TAKEN' }
  /** The worker does not hold this tab (any more): register again. */
  | { type: 'TAB_UNKNOWN' }
  | { type: 'DONE'; requestId: number; error?: string }
  | { type: 'CALL_TOOL'; callId: string; targetTabId: string; toolName: string; args: JsonObject }
  | { type: 'CANCEL_CALL'; callId: string }
  /** The daemon does not take this tab in. */
  | { type: 'TAB_REFUSED'; reason: string }
  | { type: 'TOOL_REJECTED'; name: string; reason: string }
  | { type: 'ACTIVE_TAB'; tabId: string | null }
  | { type: 'CONNECTION_STATUS'; connected: boolean; reason: string }
  /** Carry what comes through this port to an extension, if there is one. */
  | { type: 'RELAY' }
  /** Asked of a tab whose id another one claims. */
  | { type: 'ARE_YOU_THERE' }
  | { type: 'PONG'; worker: WorkerKind };

/** How often a page pings. Browsers make this a minute in tabs that nobody has seen for long. */
export const PING_EVERY = 20_000;

/** How long a tab that holds no lock may be silent before it counts as gone. */
export const SILENCE = 150_000;
