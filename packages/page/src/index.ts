/** `@tabmux/page`: what a page can do becomes tools that agents can call. */

export { type ConnectionStatus, type InitOptions, type TabInfo, WorkerClient } from './client.js';
export type { ToolContext, ToolHandler, ToolOptions } from './tool.js';
export type { CallToolResult, ToolAnnotations, ToolDefinition, WorkerKind } from './wire.js';

import { WorkerClient } from './client.js';

/** The one client that a page needs. */
export const workerClient = /* @__PURE__ */ new WorkerClient();
