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
/** How many milliseconds of that pace a flush may use in advance. */
const MOST_AHEAD = 8000;

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

/** Reports all tools, unless a later report was ready first. */
let readings = 0;
let told = 0;
const tellTools = async (contexts, native) => {
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
      if (found.size < 200 && length + added <= MOST_TOLD) {
        found.set(about.name, about);
        length += added;
      } else leftOut += 1;
    }
  }
  if (!native && reading < told) return;
  told = reading;
  tell(stringify({ native, tools: [...found.values()], leftOut, asking: !native && Boolean(servers?.isAsking) }));
  // Whoever tells much tells the rest later, and of what there is then.
  if (length > FREE) paidUntil = Math.max(paidUntil, performance.now()) + length / PACE;
};

const contexts = new Set();
let gatheredUntil = -Infinity;
let paidUntil = -Infinity;
let timer = 0;
let telling;
const tellNow = () => {
  clearTimeout(timer);
  timer = 0;
  gatheredUntil = performance.now() + 50;
  // What a page offers in two ways is called by the first.
  const mine = tellTools(servers ? [...contexts, servers] : [...contexts], false).then(() => {
    if (telling === mine) telling = undefined;
  });
  telling = mine;
};
const changed = () => {
  timer ||= setTimeout(tellNow, Math.max(0, Math.max(gatheredUntil, paidUntil) - performance.now()));
};

let forms;
// Taken before a page can replace them, so that no page learns the names of the events.
const PlainEvent = Event;
const preventDefault = Function.prototype.call.bind(Event.prototype.preventDefault);
const dispatch = EventTarget.prototype.dispatchEvent.bind(window);
// Our isolated world asks for pending changes when a call ends, so that they are reported before its answer.
addEventListener(FLUSH, (event) => {
  forms?.settle();
  if (timer && paidUntil - performance.now() < MOST_AHEAD) tellNow();
  if (!telling) return;
  preventDefault(event);
  telling.then(() => dispatch(new PlainEvent(FLUSHED)));
});

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
  forms = followForms(own);
}
for (const type of ["DOMContentLoaded", "load"]) addEventListener(type, look);
if (isLate) look();
