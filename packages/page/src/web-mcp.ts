/** Registers a tool also with the page's WebMCP, if there is one: `document.modelContext` or `navigator.modelContext`. */

import type { ToolContext } from './tool.js';
import { isRecord } from './json.js';
import type { ToolDefinition } from './wire.js';

/** Registers a tool there. Calls `onRefused`, maybe later, if it is refused. Returns a function that removes it. */
export function offer(
  { name, description, inputSchema, annotations }: ToolDefinition,
  execute: (args: unknown, context: ToolContext) => Promise<unknown>,
  onRefused: () => void,
): (() => void) | undefined {
  const context = modelContext();
  if (!context) return undefined;
  const registration = new AbortController();
  const { signal } = registration;
  const tool = {
    name,
    ...(annotations?.title && { title: annotations.title }),
    description,
    inputSchema,
    ...(annotations && { annotations }),
    execute: (args: unknown, given?: Partial<ToolContext>) => execute(args, { signal: given?.signal ?? new AbortController().signal }),
  };
  const refuse = (): void => {
    if (!signal.aborted) onRefused();
  };
  try {
    // Older versions return nothing, newer ones a promise.
    Promise.resolve(context.registerTool(tool, { signal })).catch(refuse);
  } catch {
    refuse();
    return undefined;
  }
  return () => {
    registration.abort();
    // Chrome up to 148 ignores the signal.
    context.unregisterTool?.(name);
  };
}

interface ModelContext {
  registerTool(tool: object, options: object): unknown;
  unregisterTool?(name: string): void;
}

function modelContext(): ModelContext | undefined {
  if (typeof document === 'undefined') return undefined;
  try {
    for (const place of [document, navigator]) {
      const context: unknown = Reflect.get(place, 'modelContext');
      if (isModelContext(context)) return context;
    }
  } catch {
    // A permissions policy may forbid access.
  }
  return undefined;
}

function isModelContext(value: unknown): value is ModelContext {
  return isRecord(value) && typeof Reflect.get(value, 'registerTool') === 'function';
}
