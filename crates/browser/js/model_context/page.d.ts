/** The types of the scripts that run in the page's own world. The compiler reads them; nothing of this file reaches a page. */

// What Rust writes before these scripts. See `script` in model_context.rs.
declare const BINDING: string;
declare const WITH_POLYFILL: boolean;
declare const FAILED: string;
declare const FLUSH: string;
declare const FLUSHED: string;
declare const parse: typeof JSON.parse;
declare const stringify: typeof JSON.stringify;
declare const inside: unique symbol;

/** A message to tabmux, as JSON. */
type Send = (message: string) => void;

/** A tool as `getTools` of WebMCP lists it. It comes from the page, so it may be anything; the names are those of the standard. */
interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: unknown;
  annotations?: Record<string, unknown>;
  window?: Window;
  origin?: string;
}

/** A tool as a page registers it. */
interface RegisteredTool extends ListedTool {
  execute(input: object, options: { signal: AbortSignal }): unknown;
}

/** `document.modelContext`, of the browser, of the page or of offer.js. */
interface PageContext extends EventTarget {
  getTools(): Promise<any[]>;
  executeTool(tool: ListedTool, input: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
  registerTool(tool: RegisteredTool, options?: { signal?: AbortSignal }): Promise<void>;
  /** Set by a polyfill whose tools take their input as text. */
  __isWebMCPPolyfill?: boolean;
  [inside]?: ContextInside;
}

/** What the contexts of offer.js in windows of one origin let each other do. */
interface ContextInside {
  tools(): ListedTool[];
  run(name: string, input: object, signal?: AbortSignal): Promise<string>;
}

interface Document {
  readonly modelContext?: PageContext;
}

interface Navigator {
  readonly modelContext?: PageContext;
}

/** A control of a form that is a tool, with the properties that its kind has. */
type FormControl = HTMLInputElement & { options: HTMLCollectionOf<HTMLOptionElement> };

/** An MCP server inside the page. */
interface PageServer {
  channel: string;
  isNew: boolean;
  isGreeted: boolean;
  isBusy: boolean;
  isStale: boolean;
  waiting: Map<unknown, (answer: any) => void>;
  tools: any[] | undefined;
}

/** What a call of a tool comes to: its output, an error, a filled form, or no such tool. */
type CallAnswer = { output: string | null } | { error: string } | { filled: true } | { gone: true };
