/** Registers a tool with the page's WebMCP too, where there is one: `document.modelContext`, or its older place. */

import type { ToolContext } from './tool.js';
import { isRecord, type ToolDefinition } from './wire.js';

/** Offers a tool there. `onRefused` is called, maybe later, when it was not taken; the answer takes it back. */
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
    // Older ones answer nothing, newer ones a promise.
    Promise.resolve(context.registerTool(tool, { signal })).catch(refuse);
  } catch {
    refuse();
    return undefined;
  }
  return () => {
    registration.abort();
    // Chrome up to 148 does not know the signal.
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
    // A permissions policy may forbid even looking.
  }
  return undefined;
}

function isModelContext(value: unknown): value is ModelContext {
  return isRecord(value) && typeof Reflect.get(value, 'registerTool') === 'function';
}
