/**
 * Makes `instanceof` mean the kind of a node, not the frame in which our world first saw it.
 *
 * An isolated world is one for all frames of a process. If its script in the outer document reaches a node of an inner
 * one, the node gets the prototypes of the outer document, and `instanceof` is false in the frame itself.
 */
(() => {
  "use strict";
  const KINDS = [
    "Node",
    "Element",
    "Document",
    "DocumentFragment",
    "ShadowRoot",
    "HTMLElement",
    "HTMLDataListElement",
    "HTMLDetailsElement",
    "HTMLFormElement",
    "HTMLInputElement",
    "HTMLLabelElement",
    "HTMLMeterElement",
    "HTMLOptGroupElement",
    "HTMLProgressElement",
    "HTMLSelectElement",
    "HTMLSlotElement",
    "HTMLTextAreaElement",
  ];

  /**
   * Whether one of these prototypes is that of the kind. They are of our world, so a page cannot change them.
   * @param {object | null} prototype
   * @param {string} kind
   */
  function inherits(prototype, kind) {
    for (let at = prototype; at; at = Object.getPrototypeOf(at)) {
      if (Object.getOwnPropertyDescriptor(at, Symbol.toStringTag)?.value === kind) return true;
    }
    return false;
  }

  /** @param {string} kind */
  function redefine(kind) {
    const type = Reflect.get(globalThis, kind);
    // Other engines lack some of them.
    if (typeof type !== "function" || Object.hasOwn(type, Symbol.hasInstance)) return;
    /** @type {WeakMap<object, boolean>} */
    const known = new WeakMap();
    /** @param {unknown} value */
    const isOne = (value) => {
      if (typeof value !== "object" || value === null) return false;
      const prototype = Object.getPrototypeOf(value);
      if (prototype === null) return false;
      let is = known.get(prototype);
      if (is === undefined) {
        is = inherits(prototype, kind);
        known.set(prototype, is);
      }
      return is;
    };
    Object.defineProperty(type, Symbol.hasInstance, { value: isOne });
  }

  KINDS.forEach(redefine);
})();
