/** `document.modelContext` for browsers that have none. Pages use it like the browser's own. */

/** @param {() => void} changed */
const makeModelContext = (changed) => {
  /** @type {Map<string, RegisteredTool>} */
  const tools = new Map();
  const key = {};

  /** @param {string} text */
  const refuse = (text) => new DOMException(text, "InvalidStateError");

  /** The inner functions of the context in another window of the same origin, if it is one of ours. @param {any} view */
  const insideOf = (view) => {
    const own = Object.getOwnPropertyDescriptor(view.Document.prototype, "modelContext");
    return own?.get?.call(view.document)?.[inside];
  };

  /** The windows of this origin, from the top. */
  const windows = () => {
    /** @type {any[]} */
    const found = [];
    /** @param {any} view */
    const visit = (view) => {
      try {
        if (found.length >= 100 || !view.document) return;
      } catch {
        return;
      }
      found.push(view);
      for (let i = 0; i < view.length; i++) visit(view[i]);
    };
    visit(top);
    return found;
  };

  /** @param {PageContext} context */
  const change = (context) => {
    changed();
    context.dispatchEvent(new Event("toolchange"));
  };

  /** @param {unknown} output */
  const written = (output) => {
    if (typeof output === "string") return output;
    return stringify(output) ?? "undefined";
  };

  /** @param {PageContext} context @param {string} name @param {object} input @param {AbortSignal | undefined} signal */
  const run = async (context, name, input, signal) => {
    const entry = tools.get(name);
    if (!entry) throw new DOMException("There is no such tool", "NotFoundError");
    signal?.throwIfAborted();
    const stop = new AbortController();
    const aborted = new Promise((_, fail) => {
      signal?.addEventListener("abort", () => {
        stop.abort(signal.reason);
        context.dispatchEvent(new ToolEvent("toolcancel", name));
        fail(signal.reason);
      });
    });
    context.dispatchEvent(new ToolEvent("toolactivated", name));
    try {
      const answer = (async () => entry.execute(input, { signal: stop.signal }))();
      return written(await Promise.race([answer, aborted]));
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new DOMException(FAILED + describeError(error), "UnknownError");
    }
  };

  class ToolEvent extends Event {
    /** @param {string} type @param {string} toolName */
    constructor(type, toolName) {
      super(type);
      this.toolName = toolName;
    }
  }

  class ModelContext extends EventTarget {
    /** @type {Record<string, ((event: Event) => void) | null>} */
    #handlers = {};

    /** @param {object} given */
    constructor(given) {
      if (given !== key) throw new TypeError("Illegal constructor");
      super();
      for (const type of ["toolchange", "toolactivated", "toolcancel"]) {
        this.addEventListener(type, (event) => this.#handlers[type]?.call(this, event));
        const handler = {
          get: () => this.#handlers[type] ?? null,
          set: (/** @type {unknown} */ handler) => {
            this.#handlers[type] = typeof handler === "function" ? /** @type {(event: Event) => void} */ (handler) : null;
          },
        };
        Object.defineProperty(this, `on${type}`, { ...handler, enumerable: true, configurable: true });
      }
      /** @type {ContextInside} */
      const value = {
        tools: () => [...tools.values()].map(({ execute, ...facts }) => ({ ...facts, window, origin })),
        run: (name, input, signal) => run(this, name, input, signal),
      };
      Object.defineProperty(this, inside, { value });
    }

    /** @param {RegisteredTool} tool @param {{ signal?: AbortSignal }} [options] */
    async registerTool(tool, options = {}) {
      const { name, title, description, inputSchema, annotations, execute } = tool ?? {};
      const signal = options?.signal;
      if (typeof execute !== "function") throw new TypeError("A tool needs a function `execute`");
      if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
        throw refuse("A tool's name has 1 to 128 of the characters A-Z a-z 0-9 _ . -");
      }
      if (typeof description !== "string" || !description) throw refuse("A tool needs a description");
      if (tools.has(name)) throw refuse(`A tool named ${name} is already registered`);
      const schema = inputSchema === undefined ? undefined : parse(stringify(inputSchema));
      signal?.throwIfAborted();
      const entry = {
        name: String(name),
        ...(title === undefined ? {} : { title: String(title) }),
        description,
        ...(schema === undefined ? {} : { inputSchema: schema }),
        annotations: {
          readOnlyHint: Boolean(annotations?.readOnlyHint),
          untrustedContentHint: Boolean(annotations?.untrustedContentHint),
          consequentialHint: Boolean(annotations?.consequentialHint),
          debugging: Boolean(annotations?.debugging),
        },
        execute,
      };
      tools.set(entry.name, entry);
      signal?.addEventListener("abort", () => {
        if (tools.get(entry.name) !== entry) return;
        tools.delete(entry.name);
        change(this);
      });
      change(this);
    }

    async getTools() {
      const found = windows().flatMap((view) => insideOf(view)?.tools() ?? []);
      return found.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
    }

    /** @param {ListedTool} tool @param {unknown} [input] @param {{ signal?: AbortSignal }} [options] */
    async executeTool(tool, input = {}, options = {}) {
      if (input === null || typeof input !== "object") {
        throw new TypeError("invalid input object: value is not an object");
      }
      const where = insideOf(tool?.window ?? window);
      if (!where) throw new DOMException("There is no such tool", "NotFoundError");
      return where.run(String(tool?.name), parse(stringify(input)), options?.signal);
    }
  }

  const context = new ModelContext(key);
  const own = {
    /** @this {unknown} @returns {ModelContext | undefined} */
    get modelContext() {
      return this === document ? context : undefined;
    },
  };
  Object.defineProperty(Document.prototype, "modelContext", {
    get: Object.getOwnPropertyDescriptor(own, "modelContext")?.get,
    enumerable: true,
    configurable: true,
  });
  Object.defineProperty(globalThis, "ModelContext", {
    value: ModelContext,
    writable: true,
    configurable: true,
  });
  return context;
};

/** @param {any} error */
const describeError = (error) => {
  try {
    return error instanceof Error || error instanceof DOMException ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "it gave no reason";
  }
};
