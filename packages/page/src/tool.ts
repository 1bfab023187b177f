/** Checks the tools that an application registers, and converts them and their results for sending. */

import { isRecord, type Json, type JsonObject } from './json.js';
import { type CallToolResult, MAX_RESULT, type ToolAnnotations, type ToolDefinition } from './wire.js';

/** Runs in the page. Returns `{ content: […] }`, or a plain value that is put into one. */
// biome-ignore lint/suspicious/noExplicitAny: an application knows what its own schema lets through.
export type ToolHandler = (args: any, context: ToolContext) => unknown;

export interface ToolContext {
  /** Fires when the call is cancelled. */
  signal: AbortSignal;
}

export interface ToolOptions {
  /** The schema of a result's `structuredContent`. */
  outputSchema?: object;
  annotations?: ToolAnnotations;
}

export interface Tool {
  definition: ToolDefinition;
  handler: ToolHandler;
}

/** A tool from the arguments of `registerTool`. Throws a `TypeError` if they are wrong. */
export function makeTool(name: string, rest: unknown[]): Tool {
  const [description, schema, handler, options = {}] = typeof rest[0] === 'function' ? [name, {}, ...rest] : rest;
  if (!/^[\w.-]{1,128}$/.test(name)) throw new TypeError(`'${name}' cannot be the name of a tool: use 1 to 128 letters, digits, '_', '-' or '.'.`);
  if (!isHandler(handler)) throw new TypeError(`The tool '${name}' needs a function that runs it.`);
  const { outputSchema, annotations } = isOptions(options) ? options : {};
  return {
    handler,
    definition: {
      name,
      description: typeof description === 'string' && description ? description : name,
      inputSchema: copySchema(name, schema ?? {}),
      ...(outputSchema && { outputSchema: copySchema(name, outputSchema) }),
      ...(annotations && { annotations: { ...annotations } }),
    },
  };
}

/** The return value of a handler as a result of MCP. */
export function toResult(value: unknown, { definition }: Tool): CallToolResult {
  const json = JSON.stringify(value);
  // Structured content is sent twice.
  const most = definition.outputSchema ? MAX_RESULT / 2 : MAX_RESULT;
  if (json?.length > most) throw new TooLarge(definition.name, json.length, most);
  const plain: Json = JSON.parse(json ?? 'null');
  const result = isResult(plain) ? plain : wrap(plain);
  const structured = definition.outputSchema && !result.structuredContent && structuredText(result);
  return structured ? { ...result, structuredContent: structured } : result;
}

export class TooLarge extends Error {
  constructor(name: string, length: number, most: number) {
    super(`The result of '${name}' has ${length} characters and ${most} are allowed; return less.`);
  }
}

/** A copy, so that the application's object is not changed. `{}` becomes the schema of an object. */
function copySchema(name: string, schema: unknown): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(schema) ?? 'null');
  if (!isRecord(copy) || (copy['type'] !== undefined && copy['type'] !== 'object')) {
    throw new TypeError(`The schemas of the tool '${name}' must be of type 'object'.`);
  }
  return { ...copy, type: 'object' };
}

function isHandler(value: unknown): value is ToolHandler {
  return typeof value === 'function';
}

function isOptions(value: unknown): value is ToolOptions {
  return isRecord(value);
}

function isResult(value: Json): value is JsonObject & CallToolResult {
  return isRecord(value) && Array.isArray(value['content']);
}

function wrap(value: Json): CallToolResult {
  if (value === null) return { content: [] };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const result: CallToolResult = { content: [{ type: 'text', text }] };
  return isRecord(value) ? { ...result, structuredContent: value } : result;
}

/** The object in a result whose only content is its JSON text. */
function structuredText({ content }: CallToolResult): JsonObject | undefined {
  const text = content.length === 1 ? content[0]?.['text'] : undefined;
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
