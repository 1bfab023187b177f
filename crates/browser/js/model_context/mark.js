/**
 * Tells tabmux that a page uses its library, and gives both a value by which they know of the same document.
 * @param {Tell} tell
 */

const markLibrary = (tell) => {
  // Frames are no tabs.
  if (window !== top) return;
  const place = Symbol.for("tabmux.nonce");
  const fill = crypto.getRandomValues.bind(crypto);
  let nonce = "";
  const mark = () => {
    if (!nonce) {
      nonce = Array.from(fill(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      tell(stringify({ nonce }));
    }
    Reflect.defineProperty(window, place, { value: nonce, configurable: true });
  };
  // Pages without the library see nothing of it.
  addEventListener("tabmux-hello", mark);
  // What comes back from the cache is a document that we have left.
  addEventListener("pageshow", (event) => {
    if (event.persisted) nonce = "";
  });
  if (Symbol.for("tabmux.tabId") in document) {
    mark();
    dispatchEvent(new Event("tabmux-nonce"));
  }
};
