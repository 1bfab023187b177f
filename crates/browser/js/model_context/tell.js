/** Tells tabmux which tools a document has, whoever gave it `modelContext`. */

const tell = globalThis[BINDING];
delete globalThis[BINDING];
if (typeof tell !== "function") return;
markLibrary(tell);

const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
const isNative = Boolean(getter) && Function.prototype.toString.call(getter).includes("[native code]");
const isLate = document.readyState !== "loading";

const MOST_SCHEMA = 65536;
/** What a document may tell of all its tools. */
const MOST_TOLD = 1048576;
/** What it may tell in a millisecond, in the long run. */
const PACE = 256;
/** So much costs nothing worth a pause. */
const FREE = 65536;

const isInFrontOfStrangers = () => {
  try {
    return !top.document;
  } catch {
    return true;
  }
};

const facts = (tool) => {
  const channel = tool[channelOf];
  const form = channel === undefined && document.querySelector(`form[toolname="${CSS.escape(tool.name)}"]`);
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
    submits: Boolean(form && form.hasAttribute("toolautosubmit")),
    channel,
  };
};

/** What cannot be read is left out. */
const attempt = async (read, otherwise) => {
  try {
    return await read();
  } catch {
    return otherwise;
  }
};

/** Tells of all tools; how long that is. */
const tellTools = async (contexts, native) => {
  const found = new Map();
  let leftOut = 0;
  let length = 0;
  for (const context of contexts) {
    for (const tool of await attempt(async () => [...(await context.getTools())], [])) {
      const about = await attempt(() => (!tool.window || tool.window === window) && facts(tool));
      if (about === undefined) leftOut += 1;
      if (!about || found.has(about.name)) continue;
      const added = stringify(about).length;
      if (found.size < 200 && length + added <= MOST_TOLD) {
        found.set(about.name, about);
        length += added;
      } else leftOut += 1;
    }
  }
  tell(stringify({ native, tools: [...found.values()], leftOut, asking: !native && Boolean(servers?.isAsking) }));
  return length;
};

const contexts = new Set();
let next = -Infinity;
let timer = 0;
const changed = () => {
  timer ||= setTimeout(async () => {
    timer = 0;
    next = performance.now() + 50;
    // What a page offers in two ways is called by the first.
    const length = await tellTools(servers ? [...contexts, servers] : contexts, false);
    // Whoever tells much tells the rest later, and of what there is then.
    if (length > FREE) next = Math.max(next, performance.now() + length / PACE);
  }, Math.max(0, next - performance.now()));
};

const mayOffer = isSecureContext && !isInFrontOfStrangers();
const servers = mayOffer ? followServers(tell, isLate, changed) : undefined;
addEventListener("pageshow", (event) => {
  if (event.persisted && (!isNative || servers?.size)) changed();
});

// The browser tells by itself, except of frames that were there before it was asked.
if (isNative) {
  if (isLate && window !== top) tellTools([getter.call(document)], true);
  return;
}

/** A page may bring its own, at any time until it is loaded. */
const look = () => {
  const context = document.modelContext ?? navigator.modelContext;
  if (typeof context?.getTools !== "function" || contexts.has(context)) return;
  contexts.add(context);
  context.addEventListener?.("toolchange", changed);
  changed();
};

if (WITH_SHIM && !getter && mayOffer) {
  const own = makeModelContext(changed);
  contexts.add(own);
  followForms(own);
}
for (const type of ["DOMContentLoaded", "load"]) addEventListener(type, look);
if (isLate) look();
