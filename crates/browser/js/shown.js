/**
 * Where the page shows a text, for a picture that must not show it. Which text that is, is decided outside: for this no
 * secret value comes into the page.
 */
(() => {
  "use strict";
  const { dom, isElement, isText, childrenOf, clean } = tabmux;

  /** Elements whose text is not shown. */
  const UNSHOWN = new Set(["script", "style", "noscript", "template", "head", "iframe"]);
  const UNSHOWN_TYPES = new Set(["hidden", "checkbox", "radio", "color", "range", "file", "password"]);
  const MOST_CHARACTERS = 4_000_000;
  const MOST_BOXES = 1_000;

  /** The text of each node that has some, and its place in the text of the document. @type {ShownPiece[]} */
  let pieces = [];

  /** The text of the whole document, with that of fields and pictures. @type {Tabmux["shownText"]} */
  function shownText() {
    pieces = [];
    let text = "";
    /** @type {Node[]} */
    const nodes = [dom.documentElement(document) ?? document];
    for (let node = nodes.pop(); node && text.length <= MOST_CHARACTERS; node = nodes.pop()) {
      const own = isText(node) ? dom.data(node) : isElement(node) ? ownText(/** @type {PageElement} */ (node)) : "";
      if (own) {
        const shown = clean(own);
        pieces.push({ node, start: text.length, end: text.length + shown.length, isWhole: !isText(node) || shown !== own });
        text += shown;
      }
      if (isElement(node) && (UNSHOWN.has(dom.tag(node)) || node instanceof HTMLSelectElement)) continue;
      nodes.push(...childrenOf(node).reverse());
    }
    const isTooLong = text.length > MOST_CHARACTERS;
    return { text: isTooLong ? "" : text, title: dom.title(document) ?? "", isTooLong, x: scrollX, y: scrollY };
  }

  /** What an element shows besides its children. @param {PageElement} element */
  function ownText(element) {
    if (dom.tag(element) === "img") return lines(dom.attribute(element, "alt") ?? "");
    if (element instanceof HTMLSelectElement) return lines(...[...element.options].map((option) => option.label));
    if (element instanceof HTMLTextAreaElement) return lines(hasDots(element) ? "" : element.value, element.placeholder);
    if (!(element instanceof HTMLInputElement)) return "";
    // The placeholder of a password is shown as it is.
    const hasValue = !UNSHOWN_TYPES.has(element.type) && !hasDots(element);
    return lines(hasValue ? element.value : "", element.placeholder, element.alt);
  }

  /** Texts that are beside each other. @param {string[]} texts */
  const lines = (...texts) => texts.map((text) => `\n${text}\n`).join("");

  /** @param {Element} element */
  const hasDots = (element) => (getComputedStyle(element).webkitTextSecurity || "none") !== "none";

  /** The boxes of these parts of the text, in the viewport of this frame. @type {Tabmux["shownBoxes"]} */
  function shownBoxes({ parts }) {
    /** @type {Box[]} */
    const boxes = [];
    for (const [start, end] of parts) {
      for (const piece of pieces) {
        if (piece.end <= start || piece.start >= end) continue;
        if (boxes.length > MOST_BOXES) return { boxes: [], areTooMany: true };
        boxes.push(...boxesOf(piece, start - piece.start, end - piece.start));
      }
    }
    pieces = [];
    return { boxes: boxes.filter(({ width, height }) => width > 0 && height > 0), areTooMany: false };
  }

  /** @param {ShownPiece} piece @param {number} start @param {number} end @returns {Box[]} */
  function boxesOf({ node, isWhole }, start, end) {
    if (!dom.connected(node)) return [];
    if (isElement(node)) return tabmux.visible(node) ? [...dom.rects(node)].map(plain) : [];
    // Text that is not shown has no boxes. Whether its parent has one says nothing: a slot never has.
    const range = new Range();
    range.selectNodeContents(node);
    // The page may have changed the text in between: then all of it counts.
    const { length } = dom.data(node);
    if (!isWhole && start < length) {
      range.setStart(node, Math.max(start, 0));
      range.setEnd(node, Math.min(end, length));
    }
    return [...range.getClientRects()].map(plain);
  }

  /** @param {Box} box @returns {Box} */
  const plain = ({ x, y, width, height }) => ({ x, y, width, height });

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ shownText, shownBoxes }));
})();
