/**
 * Writes a script's result as JSON for `evaluate_script`. One function, called in the page's own world with the result
 * as `this` and the maximum of characters. Returns `{text, length}`, or `{problem}` if JSON cannot represent the result. A long
 * text is passed inside an object under the name `boxed`, because Chrome would send the whole text otherwise.
 * @this {any}
 * @param {number} most
 * @param {string} [boxed]
 */
function writeOut(most, boxed) {
  /** @type {string[]} */
  const path = [];
  const place = () => (path.length ? ` at ${path.join("").replace(/^\./, "")}` : "");
  /** @param {string} what @param {string} instead */
  const problem = (what, instead) => ({ problem: `The result contains ${what}${place()}, which JSON cannot represent. Return ${instead} instead.` });
  const around = new Set();
  /** @type {(value: any) => { problem: string } | null} */
  const search = (value) => {
    if (typeof value === "bigint") return problem("a BigInt", "String(value) or Number(value)");
    if (typeof value !== "object" || value === null || typeof value.toJSON === "function") return null;
    if (value instanceof Node) return problem("a DOM node", "what you want to know of it, such as its textContent");
    if (value === value.window) return problem("a window", "the properties you want to know");
    if (value instanceof Map || value instanceof Set) return problem("a Map or Set", "Array.from(value)");
    if (around.has(value)) return problem("a circular reference", "plain data without it");
    if (ArrayBuffer.isView(value)) return null;
    around.add(value);
    for (const key of Object.keys(value)) {
      path.push(Array.isArray(value) ? `[${key}]` : `.${key}`);
      const found = search(value[key]);
      if (found) {
        found.problem = found.problem.slice(0, 1000);
        return found;
      }
      path.pop();
    }
    around.delete(value);
    return null;
  };
  const long = boxed && Object.hasOwn(this, boxed) ? this[boxed] : undefined;
  if (long !== undefined) {
    // The JSON of the whole text might exceed the longest possible string.
    const text = JSON.stringify(long.slice(0, most));
    return { text: text.slice(0, most).toWellFormed(), length: Math.max(text.length, long.length + 2) };
  }
  const found = search(this);
  if (found) return found;
  const text = JSON.stringify(this) ?? "undefined";
  return { text: text.slice(0, most).toWellFormed(), length: text.length };
}
