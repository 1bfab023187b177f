/** Provisional. */
import type { JsonObject } from './json.js';
export const PROTOCOL_VERSION = 1;
export type ToDaemon = { "type": "HELLO", version: number, library: string, worker: WorkerKind, } | { "type": "REGISTER_TAB" } & TabRecord | { "type": "UPDATE_TAB" } & TabRecord | { "type": "UNREGISTER_TAB", tabId: string, } | { "type": "SET_ACTIVE_TAB", tabId: string | null, at: number, } | { "type": "REGISTER_TOOL" } & ToolRecord | { "type": "UNREGISTER_TOOL", tabId: string, name: string, } | { "type": "TOOL_CALL_RESULT", callId: string, success: boolean, result?: CallToolResult, error?: string, code?: CallErrorCode, } | { "type": "PING" } | { "type": "PONG" };
export type FromDaemon = { "type": "WELCOME", version: number, } | { "type": "REFUSED", reason: string, } | { "type": "TAB_REFUSED", tabId: string, anotherId: boolean, reason: string, } | { "type": "TOOL_REJECTED", tabId: string, name: string, reason: string, } | { "type": "CALL_TOOL", callId: string, targetTabId: string, documentId: string, toolName: string, args: JsonObject, } | { "type": "CANCEL_CALL", callId: string, } | { "type": "PING" } | { "type": "PONG" };
export type TabRecord = { tabId: string, documentId: string, url: string, title: string, visible: boolean, focused: boolean, lastSeen: number, nonce?: string, };
export type ToolRecord = { tabId: string, name: string, description: string, inputSchema: JsonObject, outputSchema?: JsonObject, annotations?: ToolAnnotations, handlerType: HandlerType, webMcp: boolean, };
export type ToolAnnotations = { title?: string, readOnlyHint?: boolean, destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean, consequentialHint?: boolean, untrustedContentHint?: boolean, };
export type WorkerKind = "shared" | "service" | "dedicated";
export type HandlerType = "proxy";
export type CallToolResult = { content: Array<JsonObject>, structuredContent?: JsonObject, isError?: boolean, };
export type CallErrorCode = "failed" | "no_tab" | "no_tool" | "gone" | "cancelled" | "too_large" | "busy";
