/** MCP servers that run inside the page and communicate over `postMessage`, as with MCP-B's tab transport. */

const DEFAULT_CHANNEL = "mcp-default";
const MOST_SERVERS = 4;
const MOST_PAGES = 10;
const MOST_LISTED = 1000;
const PATIENCE = 5000;
const PAUSE = 50;
/** The key of a tool's channel. A symbol, because a page cannot set it. */
const channelOf = Symbol("channel");

/** @param {Send} send @param {boolean} isLate @param {() => void} changed */
const followServers = (send, isLate, changed) => {
  /** @type {Map<string, PageServer>} */
  const servers = new Map();
  // Other clients may use the same server, and all of them see all answers.
  const own = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
  let asked = 0;

  /** @param {string} channel @param {any} payload */
  const say = (channel, payload) =>
    window.postMessage({ channel, type: "mcp", direction: "client-to-server", payload }, origin === "null" ? "*" : origin);

  /**
   * The answer of a server, an empty object for an error, `undefined` if it does not answer.
   * @param {PageServer} server
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  const ask = ({ channel, waiting }, method, params) =>
    new Promise((done) => {
      const id = `tabmux-${own}-${++asked}`;
      /** @param {any} answer */
      const end = (answer) => {
        clearTimeout(timer);
        waiting.delete(id);
        done(answer);
      };
      const timer = setTimeout(end, PATIENCE);
      waiting.set(id, end);
      say(channel, { jsonrpc: "2.0", id, method, params });
    });

  /** @param {PageServer} server */
  const greet = async (server) => {
    server.isGreeted = true;
    const clientInfo = { name: "tabmux", version: "1" };
    await ask(server, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    say(server.channel, { jsonrpc: "2.0", method: "notifications/initialized" });
  };

  /** All its tools, up to the limit; `undefined` if it does not answer. @param {PageServer} server */
  const list = async (server) => {
    /** @type {any[]} */
    let tools = [];
    let cursor;
    for (let page = 0; page < MOST_PAGES && tools.length < MOST_LISTED; page++) {
      const answer = await ask(server, "tools/list", cursor === undefined ? {} : { cursor });
      if (answer === undefined) return undefined;
      if (!Array.isArray(answer.tools)) break;
      tools = tools.concat(answer.tools.slice(0, MOST_LISTED));
      cursor = answer.nextCursor;
      if (typeof cursor !== "string") break;
    }
    return tools;
  };

  /** @param {PageServer} server */
  const readTools = async (server) => {
    // A server that was there before us may have been initialized by another client, which must stay so.
    const listed = server.isNew ? undefined : await list(server);
    server.isNew = false;
    if (listed?.length || server.isGreeted) return listed;
    await greet(server);
    return list(server);
  };

  /** Reads the tools once at a time, however often the server reports changes. @param {PageServer} server */
  const follow = async (server) => {
    server.isStale = true;
    if (server.isBusy) return;
    server.isBusy = true;
    while (server.isStale) {
      server.isStale = false;
      server.tools = (await readTools(server)) ?? server.tools ?? [];
      if (servers.get(server.channel) !== server) return;
      changed();
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    server.isBusy = false;
  };

  /** @param {string} channel @param {boolean} isNew */
  const meet = (channel, isNew) => {
    if (servers.size >= MOST_SERVERS) return;
    /** @type {PageServer} */
    const server = { channel, isNew, isGreeted: false, isBusy: false, isStale: false, waiting: new Map(), tools: undefined };
    servers.set(channel, server);
    send(stringify({ asking: true }));
    follow(server);
  };

  /** @param {string} channel @param {any} payload */
  const hear = (channel, payload) => {
    const server = servers.get(channel);
    if (payload === "mcp-server-stopped") {
      if (servers.delete(channel)) changed();
    } else if (!server) {
      meet(channel, payload === "mcp-server-ready" && !isLate);
    } else if (payload === "mcp-server-ready") {
      // An answer to another client's question, or a new server that replaced the first.
      server.isGreeted = false;
      follow(server);
    } else if (payload?.method === "notifications/tools/list_changed") {
      follow(server);
    } else if (payload?.method === "ping" && server.isGreeted) {
      say(channel, { jsonrpc: "2.0", id: payload.id, result: {} });
    } else if (payload?.method === undefined) {
      server.waiting.get(payload?.id)?.(payload.result ?? {});
    }
  };

  addEventListener(
    "message",
    (event) => {
      if (!event.isTrusted || event.source !== window) return;
      const said = event.data;
      if (said?.type !== "mcp" || said.direction !== "server-to-client") return;
      if (typeof said.channel === "string" && said.channel.length <= 200) hear(said.channel, said.payload);
    },
    true,
  );
  // A server announces its start. One that started before us has to be asked.
  if (isLate) say(DEFAULT_CHANNEL, "mcp-check-ready");

  return {
    get size() {
      return servers.size;
    },
    get isAsking() {
      return [...servers.values()].some(({ tools }) => tools === undefined);
    },
    getTools: () =>
      [...servers.values()].flatMap(({ channel, tools }) =>
        (tools ?? [])
          .filter((tool) => typeof tool?.name === "string")
          .map((tool) => ({
            name: tool.name,
            description: tool.description ?? tool.title ?? "",
            inputSchema: tool.inputSchema,
            annotations: {
              readOnlyHint: tool.annotations?.readOnlyHint,
              consequentialHint: tool.annotations?.destructiveHint,
            },
            [channelOf]: channel,
          })),
      ),
  };
};
