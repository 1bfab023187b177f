/** Reports to tabmux that a page uses its library, and gives both a nonce that identifies the document. */

/** @param {Send} send */
const markLibrary = (send) => {
  // Only top-level documents are tabs.
  if (window !== top) return;
  const place = Symbol.for("tabmux.nonce");
  const fill = crypto.getRandomValues.bind(crypto);
  let nonce = "";
  const mark = () => {
    if (!nonce) {
      nonce = Array.from(fill(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      send(stringify({ nonce }));
    }
    Reflect.defineProperty(window, place, { value: nonce, configurable: true });
  };
  // Pages without the library notice nothing.
  addEventListener("tabmux-hello", mark);
  // A document from the back/forward cache needs a new nonce.
  addEventListener("pageshow", (event) => {
    if (event.persisted) nonce = "";
  });
  if (Symbol.for("tabmux.tabId") in document) {
    mark();
    dispatchEvent(new Event("tabmux-nonce"));
  }
};
