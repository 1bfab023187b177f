/** `@tabmux/page/react`: a tool that is registered as long as the component that offers it is mounted. */

import { useEffect, useRef } from 'react';
import { type ToolHandler, type ToolOptions, type WorkerClient, workerClient } from './index.js';

export interface UseTool extends ToolOptions {
  name: string;
  description?: string;
  inputSchema?: object;
  handler: ToolHandler;
  /** Set to false to remove the tool for a while. */
  enabled?: boolean;
  /** `workerClient` by default. */
  client?: WorkerClient;
}

/** Offers a tool while the component is mounted. Calls run the handler of the latest render, so it may change freely. */
export function useTool({
  name,
  description = '',
  inputSchema = {},
  outputSchema,
  annotations,
  handler,
  enabled = true,
  client = workerClient,
}: UseTool): void {
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  // Objects are new with every render, so their content is compared.
  const described = JSON.stringify([description, inputSchema, outputSchema, annotations]);
  useEffect(() => {
    if (!enabled) return;
    const run: ToolHandler = (args, context) => latest.current(args, context);
    const options: ToolOptions = { ...(outputSchema && { outputSchema }), ...(annotations && { annotations }) };
    client.registerTool(name, description, inputSchema, run, options).catch(console.error);
    return () => void client.unregisterTool(name, run);
  }, [client, enabled, name, described]);
}
