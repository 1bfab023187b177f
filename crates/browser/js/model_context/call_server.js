/**
 * Calls a tool of an MCP server inside the page, over the server's channel.
 * @param {string} channel
 * @param {string} name
 * @param {object} input
 */
function callServerTool(channel, name, input) {
  const id = `tabmux-${Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("")}`;
  const over = new AbortController();
  // Results are limited here, where they cost only the page: images of 8 MiB, and some text.
  const MOST_OUTPUT = 9_000_000;
  /** @param {string} output @returns {CallAnswer} */
  const bounded = (output) =>
    output.length > MOST_OUTPUT ? { error: `its answer has ${output.length} characters, and at most ${MOST_OUTPUT} are allowed` } : { output };
  /** @param {any} payload */
  const say = (payload) => window.postMessage({ channel, type: "mcp", direction: "client-to-server", payload }, origin === "null" ? "*" : origin);
  const answer = new Promise((done) => {
    /** @param {CallAnswer} answer */
    const end = (answer) => {
      over.abort();
      done(answer);
    };
    /** @param {MessageEvent} event */
    const hear = (event) => {
      if (!event.isTrusted || event.source !== window) return;
      const said = event.data;
      if (said?.type !== "mcp" || said.direction !== "server-to-client" || said.channel !== channel) return;
      const { payload } = said;
      if (payload === "mcp-server-stopped") end({ error: "The page's server stopped before it answered" });
      else if (payload?.id !== id || payload.method !== undefined) return;
      else if (payload.error) end({ error: String(payload.error.message || "it gave no reason").slice(0, 4000) });
      else end(bounded(JSON.stringify(payload.result) ?? "undefined"));
    };
    addEventListener("message", hear, { capture: true, signal: over.signal });
    say({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } });
  });
  const stop = () => {
    over.abort();
    say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason: "The call was cancelled." } });
  };
  return { answer, stop };
}
