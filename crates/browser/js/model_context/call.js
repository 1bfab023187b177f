/**
 * Calls a tool through a document's own `modelContext`, as any agent in the page would.
 * @param {string} name
 * @param {object} input
 * @param {boolean} submits
 */
function callTool(name, input, submits) {
  const stop = new AbortController();
  const { signal } = stop;
  const contexts = [
    Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get?.call(document),
    document.modelContext,
    document.modelContext ? undefined : navigator.modelContext,
  ];
  // Results are limited here, where they cost only the page: images of 8 MiB, and some text.
  const MOST_OUTPUT = 9_000_000;
  /** @param {string | null} output @returns {CallAnswer} */
  const bounded = (output) =>
    output && output.length > MOST_OUTPUT
      ? { error: `its answer has ${output.length} characters, and at most ${MOST_OUTPUT} are allowed` }
      : { output };
  const find = async () => {
    for (const context of contexts) {
      /** @type {ListedTool[]} */
      const tools = (await context?.getTools?.()) ?? [];
      const tool = tools.find((tool) => tool.name === name && (tool.window ?? window) === window);
      if (tool) return [context, tool];
    }
    return [];
  };
  /** @param {PageContext} context @param {ListedTool} tool */
  const run = async (context, tool) => {
    // Some implementations take an object, some its JSON text. The latter fail with exactly this message before the tool
    // runs. Other errors come from the tool.
    if (context.__isWebMCPPolyfill) return context.executeTool(tool, JSON.stringify(input), { signal });
    try {
      return await context.executeTool(tool, input, { signal });
    } catch (error) {
      if (!/^failed to parse input arguments\.?$/i.test(/** @type {any} */ (error)?.message)) throw error;
      return context.executeTool(tool, JSON.stringify(input), { signal });
    }
  };
  const answer = (async () => {
    const [context, tool] = await find();
    if (!tool) return { gone: true };
    const work = run(context, tool).then(
      (output) => bounded(output == null ? null : String(output)),
      (error) => ({ error: `${error?.name === "UnknownError" ? "" : `${error?.name ?? "Error"}: `}${error?.message ?? error}`.slice(0, 4000) }),
    );
    if (submits) return work;
    // The form is filled, or the call refused, in the task in which the call began.
    const filled = new Promise((done) => setTimeout(() => done({ filled: true })));
    return Promise.race([work, filled]);
  })();
  return { answer, stop: () => stop.abort() };
}
