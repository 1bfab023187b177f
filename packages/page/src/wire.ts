/**
 * The messages between the worker and the daemon on the websocket `/page`. Their types are generated from the daemon's own,
 * in daemon-messages.ts; `docs/page-protocol.md` explains them.
 */

import type { CallErrorCode, CallToolResult, FromDaemon, ToDaemon, ToolRecord } from './daemon-messages.js';
import { isRecord, isText } from './json.js';

export type { CallToolResult, FromDaemon, TabRecord, ToDaemon, ToolAnnotations, WorkerKind } from './daemon-messages.js';
export { PROTOCOL_VERSION } from './daemon-messages.js';

/** A tool as an agent will see it. Its handler never leaves the page. */
export type ToolDefinition = Omit<ToolRecord, 'tabId' | 'handlerType' | 'webMcp'>;

/** A result as MCP has it, or a sentence about what went wrong. */
export type CallOutcome = { success: true; result: CallToolResult } | { success: false; error: string; code: CallErrorCode };

/** A tab offers a tool. Another tool of the same name in the same tab is replaced. */
export type RegisterTool = Extract<ToDaemon, { type: 'REGISTER_TOOL' }>;

/** A tab no longer offers a tool. */
export type UnregisterTool = Extract<ToDaemon, { type: 'UNREGISTER_TOOL' }>;

/** Run a tool, once, in this tab and no other. */
export type CallTool = Extract<FromDaemon, { type: 'CALL_TOOL' }>;

/** Where the daemon listens by default. */
export const DEFAULT_DAEMON_URL = 'ws://127.0.0.1:8765/page';

/** The longest result in characters of JSON. It fits into the longest message that the daemon accepts. */
export const MAX_RESULT = 8 * 1024 * 1024;

/** Calls that may run at the same time in one worker. */
export const MAX_CALLS = 256;

/** The message in a frame from the daemon, or `undefined` if the frame is no valid message. */
export function fromDaemon(frame: unknown): FromDaemon | undefined {
  const message = parse(frame);
  if (!isRecord(message)) return undefined;
  const texts = TEXTS.get(message['type']);
  if (message['type'] === 'CALL_TOOL' && !isRecord(message['args'])) message['args'] = {};
  return texts?.every((name) => isText(message[name])) ? (message as unknown as FromDaemon) : undefined;
}

/** The types of messages from the daemon, each with its fields that have to be texts. */
const TEXTS = new Map<unknown, string[]>([
  ['PING', []],
  ['PONG', []],
  ['WELCOME', []],
  ['REFUSED', ['reason']],
  ['CANCEL_CALL', ['callId']],
  ['TAB_REFUSED', ['tabId', 'reason']],
  ['TOOL_REJECTED', ['tabId', 'name', 'reason']],
  ['CALL_TOOL', ['callId', 'targetTabId', 'documentId', 'toolName']],
] satisfies [FromDaemon['type'], string[]][]);

function parse(frame: unknown): unknown {
  try {
    return isText(frame) ? JSON.parse(frame) : undefined;
  } catch {
    return undefined;
  }
}
