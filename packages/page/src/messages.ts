/** The messages between a page and its worker through a port: those to the daemon, and some more. */

import type { JsonObject } from './json.js';
import type { CallOutcome, RegisterTool, TabRecord, UnregisterTool, WorkerKind } from './wire.js';

/** A tab as its page knows it. The worker adds when it was last seen. */
export type PageRecord = Omit<TabRecord, 'lastSeen'>;

/** Asks the worker to register this tab. Answered with `TAB_REGISTERED` or `TAB_ID_TAKEN`. */
export interface RegisterTabRequest extends PageRecord {
  type: 'REGISTER_TAB';
  /** The address of the daemon. The last one that a page sends counts. */
  daemonUrl: string;
  /** A Web Lock that this document holds as long as it exists. Empty where there are no locks. */
  lock: string;
}

/** Something about the tab has changed. */
export interface UpdateTabRequest extends PageRecord {
  type: 'UPDATE_TAB';
}

/** The page ends, or goes into the back/forward cache. */
export interface LeaveRequest {
  type: 'UNREGISTER_TAB';
}

/** This tab became active, or is hidden now. */
export interface ActiveRequest {
  type: 'SET_ACTIVE_TAB';
  tabId: string;
  isActive: boolean;
}

/** A handler is about to run. A call without this message never ran if the page leaves. */
export interface CallBegun {
  type: 'TOOL_CALL_BEGUN';
  callId: string;
}

/** The result of a handler. Sent once per call. */
export type CallAnswer = { type: 'TOOL_CALL_RESULT'; callId: string } & CallOutcome;

/** Sent from time to time. Keeps a service worker awake, and shows both sides that the other one is alive. */
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
  /** The worker has registered this tab. It holds this Web Lock as long as it runs. */
  | { type: 'TAB_REGISTERED'; lock: string }
  /** Another tab has this id, because the browser copied its storage: take a new one. May come later, from the daemon. */
  | { type: 'TAB_ID_TAKEN' }
  /** The worker does not know this tab: register again. */
  | { type: 'TAB_UNKNOWN' }
  | { type: 'DONE'; requestId: number; error?: string }
  | { type: 'CALL_TOOL'; callId: string; targetTabId: string; toolName: string; args: JsonObject }
  | { type: 'CANCEL_CALL'; callId: string }
  /** The daemon refuses this tab. */
  | { type: 'TAB_REFUSED'; reason: string }
  | { type: 'TOOL_REJECTED'; name: string; reason: string }
  | { type: 'ACTIVE_TAB'; tabId: string | null }
  | { type: 'CONNECTION_STATUS'; connected: boolean; reason: string }
  /** Connect this port to the extension, if it is installed. */
  | { type: 'RELAY' }
  /** Another tab uses the id of this one. Answer if you still exist. */
  | { type: 'ARE_YOU_THERE' }
  | { type: 'PONG'; worker: WorkerKind };

/** How often a page pings. Browsers raise this to a minute in tabs that were hidden for long. */
export const PING_EVERY = 20_000;

/** How long a tab that holds no lock may be silent before it is removed. */
export const SILENCE = 150_000;
