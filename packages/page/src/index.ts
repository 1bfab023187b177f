/** `@tabmux/page`: lets a page offer its functions as tools to agents. */

export { type ConnectionStatus, type InitOptions, type TabInfo, WorkerClient } from './client.js';
export type { ToolContext, ToolHandler, ToolOptions } from './tool.js';
export type { CallToolResult, ToolAnnotations, ToolDefinition, WorkerKind } from './wire.js';

import { WorkerClient } from './client.js';

/** The client that a page uses. */
export const workerClient = /* @__PURE__ */ new WorkerClient();
