/** Reports to tabmux which tools a document has: those of the browser, of the page, of our own `modelContext` and of MCP servers. */

const reportTools = () => {
  const scope = /** @type {any} */ (globalThis);
  const send = scope[BINDING];
  delete scope[BINDING];
  if (typeof send !== "function") return;
  markLibrary(send);

  const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
  const isNative = Boolean(getter) && Function.prototype.toString.call(getter).includes("[native code]");
  const isLate = document.readyState !== "loading";

  const MOST_SCHEMA = 65536;
  /** The most characters that a document may report about all its tools. */
  const MOST_REPORTED = 1048576;
  /** Characters per millisecond that it may report in the long run. */
  const PACE = 256;
  /** A report up to this length needs no pause afterwards. */
  const FREE = 65536;
  /** How many milliseconds of that pace a flush may use in advance. */
  const MOST_AHEAD = 8000;

  /** Whether the top document belongs to another origin. */
  const isInForeignFrame = () => {
    try {
      return !top?.document;
    } catch {
      return true;
    }
  };

  /** What tabmux needs to know of a tool; `undefined` if it is too large. @param {any} tool */
  const facts = (tool) => {
    const channel = tool[channelOf];
    const form = channel === undefined ? document.querySelector(`form[toolname="${CSS.escape(tool.name)}"]`) : null;
    const schema = typeof tool.inputSchema === "string" ? parse(tool.inputSchema) : tool.inputSchema;
    if (stringify(schema)?.length > MOST_SCHEMA) return undefined;
    return {
      name: String(tool.name),
      description: String(tool.description).slice(0, 4000),
      inputSchema: schema ?? {},
      readOnly: tool.annotations?.readOnlyHint === true,
      consequential: tool.annotations?.consequentialHint === true,
      debugging: tool.annotations?.debugging === true,
      form: Boolean(form),
      submits: form?.hasAttribute("toolautosubmit") === true,
      channel,
    };
  };

  /** The result of `read`, or `otherwise` if it fails. @param {() => any} read @param {any} [otherwise] @returns {Promise<any>} */
  const attempt = async (read, otherwise) => {
    try {
      return await read();
    } catch {
      return otherwise;
    }
  };

  let readings = 0;
  let reported = 0;
  /**
   * Reports all tools, unless a later report was ready first.
   * @param {Iterable<{ getTools(): Iterable<any> | Promise<Iterable<any>> }>} contexts
   * @param {boolean} native
   */
  const sendTools = async (contexts, native) => {
    const reading = ++readings;
    const found = new Map();
    let leftOut = 0;
    let length = 0;
    for (const context of contexts) {
      for (const tool of await attempt(async () => [...(await context.getTools())], [])) {
        const about = await attempt(() => (!tool.window || tool.window === window) && facts(tool));
        if (about === undefined) leftOut += 1;
        if (!about || about.debugging || found.has(about.name)) continue;
        const added = stringify(about).length;
        if (found.size < 200 && length + added <= MOST_REPORTED) {
          found.set(about.name, about);
          length += added;
        } else leftOut += 1;
      }
    }
    if (!native && reading < reported) return;
    reported = reading;
    send(stringify({ native, tools: [...found.values()], leftOut, asking: !native && Boolean(servers?.isAsking) }));
    // After a long report there is a pause; the next report has the state at that time.
    if (length > FREE) paidUntil = Math.max(paidUntil, performance.now()) + length / PACE;
  };

  /** @type {Set<PageContext>} */
  const contexts = new Set();
  let gatheredUntil = -Infinity;
  let paidUntil = -Infinity;
  let timer = 0;
  /** @type {Promise<void> | undefined} */
  let reporting;
  const reportNow = () => {
    clearTimeout(timer);
    timer = 0;
    gatheredUntil = performance.now() + 50;
    // A tool that a page offers in two ways is called through the first.
    const done = () => {
      if (reporting === mine) reporting = undefined;
    };
    /** @type {Promise<void>} */
    const mine = sendTools(servers ? [...contexts, servers] : [...contexts], false).then(done, done);
    reporting = mine;
  };
  const changed = () => {
    timer ||= setTimeout(reportNow, Math.max(0, Math.max(gatheredUntil, paidUntil) - performance.now()));
  };

  /** @type {{ settle(): unknown } | undefined} */
  let forms;
  // Taken before a page can replace them, so that no page learns the names of the events.
  const PlainEvent = Event;
  const preventDefault = Function.prototype.call.bind(Event.prototype.preventDefault);
  const dispatch = EventTarget.prototype.dispatchEvent.bind(window);
  // Our isolated world asks for pending changes when a call ends, so that they are reported before its answer.
  addEventListener(FLUSH, (event) => {
    forms?.settle();
    if (timer && paidUntil - performance.now() < MOST_AHEAD) reportNow();
    if (!reporting) return;
    preventDefault(event);
    const answer = () => dispatch(new PlainEvent(FLUSHED));
    reporting.then(answer, answer);
  });

  const mayOffer = isSecureContext && !isInForeignFrame();
  const servers = mayOffer ? followServers(send, isLate, changed) : undefined;
  addEventListener("pageshow", (event) => {
    if (event.persisted && (!isNative || servers?.size)) changed();
  });

  // The browser reports tools itself, except those of frames that existed before it was asked.
  if (isNative) {
    if (isLate && window !== top) sendTools([/** @type {() => PageContext} */ (getter).call(document)], true);
    return;
  }

  /** Finds a `modelContext` of the page itself, which may appear at any time until the page is loaded. */
  const look = () => {
    const context = document.modelContext ?? navigator.modelContext;
    if (typeof context?.getTools !== "function" || contexts.has(context)) return;
    contexts.add(context);
    context.addEventListener?.("toolchange", changed);
    changed();
  };

  if (WITH_POLYFILL && !getter && mayOffer) {
    const own = makeModelContext(changed);
    contexts.add(own);
    forms = followForms(own);
  }
  for (const type of ["DOMContentLoaded", "load"]) addEventListener(type, look);
  if (isLate) look();
};

reportTools();
