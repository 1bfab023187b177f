/** Tools as an application describes them, checked and made ready to be sent. */

import { type CallToolResult, isRecord, type Json, type JsonObject, MAX_RESULT, type ToolAnnotations, type ToolDefinition } from './wire.js';

/** Runs in the page, with everything the page has. Returns `{ content: […] }`, or a plain value that is put into one. */
export type ToolHandler = (args: any, context: ToolContext) => unknown;

export interface ToolContext {
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
}

export interface ToolOptions {
  /** What `structuredContent` of a result looks like. */
  outputSchema?: object;
  annotations?: ToolAnnotations;
}

export interface Tool {
  definition: ToolDefinition;
  handler: ToolHandler;
}

/** A tool that can be sent, from what `registerTool` was given; or a `TypeError` that says what is wrong with it. */
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

/** What a handler returned, as MCP has it. */
export function toResult(value: unknown, { definition }: Tool): CallToolResult {
  const json = JSON.stringify(value);
  // What is structured is sent twice.
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

/** A copy, because the author's object is the author's; `{}` becomes the schema of an object. */
function copySchema(name: string, schema: unknown): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(schema) ?? 'null');
  if (!isRecord(copy) || (copy['type'] !== undefined && copy['type'] !== 'object')) {
    throw new TypeError(`The schemas of the tool '${name}' have to be JSON schemas of objects: { type: 'object', properties: … }.`);
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

/** The object that a single text spells out. */
function structuredText({ content }: CallToolResult): JsonObject | undefined {
  const text = content.length === 1 ? content[0]?.['text'] : undefined;
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
