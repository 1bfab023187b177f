/**
 * Messages that a page shows only for a moment, such as a toast: watched while an action runs, so that its answer can
 * tell those that are gone by then.
 */
(() => {
  "use strict";
  const { dom, collapse, isElement, rootOf } = tabmux;

  const MESSAGE = "[role=alert], [role=status], [aria-live]:not([aria-live=off]), [class*=toast i], [class*=snackbar i], [class*=notification i]";
  const MOST_RECORDS = 500;
  const MOST_MESSAGES = 5;
  const MOST_BEFORE = 50;
  const MOST_ROOTS = 500;
  const LONGEST = 200;
  /** How long the search inside of changed elements may take during one watch. */
  const LONGEST_SEARCH_MS = 10;

  /** A message is shown by being added, by new text, or by one of these attributes. @type {MutationObserverInit} */
  const CHANGES = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "hidden", "style", "open"] };

  /** @type {MutationObserver | null} */
  let observer = null;
  /** What was shown: the text of each message, by its element. @type {Map<PageElement, Set<string>>} */
  let shown = new Map();
  /** The text of messages that were there before. @type {Map<PageElement, string>} */
  let before = new Map();
  let searchedMs = 0;

  /** Begins to watch; what an earlier watch found is dropped. @type {Tabmux["watchMessages"]} */
  function watchMessages() {
    observer?.disconnect();
    shown = new Map();
    before = new Map();
    searchedMs = 0;
    observer = new MutationObserver(note);
    observer.observe(document, CHANGES);
    noteBefore(dom.allInDocument(document, MESSAGE));
    for (const root of tabmux.seenRoots().slice(0, MOST_ROOTS)) {
      observer.observe(root, CHANGES);
      noteBefore(dom.allInRoot(root, MESSAGE));
    }
  }

  /** Ends the watch, with the texts that were shown and are not any more. @type {Tabmux["passingMessages"]} */
  function passingMessages() {
    if (observer) note(observer.takeRecords());
    observer?.disconnect();
    observer = null;
    const texts = [...shown].flatMap(([message, said]) => {
      const now = textOf(message);
      return [...said].filter((text) => !now.includes(text));
    });
    shown = new Map();
    before = new Map();
    return { texts: [...new Set(texts)].slice(0, MOST_MESSAGES) };
  }

  /** @param {NodeListOf<Element>} messages */
  function noteBefore(messages) {
    for (const message of messages) {
      if (before.size === MOST_BEFORE) return;
      const text = textOf(/** @type {PageElement} */ (message));
      if (text) before.set(/** @type {PageElement} */ (message), text);
    }
  }

  /** @param {MutationRecord[]} records */
  function note(records) {
    if (shown.size >= 4 * MOST_MESSAGES) return;
    /** @type {Set<PageElement>} */
    const messages = new Set();
    /** Elements that may have messages inside. @type {Set<Node>} */
    const changed = new Set();
    for (const { type, target, addedNodes } of records.slice(0, MOST_RECORDS)) {
      const around = isElement(target) ? target : tabmux.parentOf(target);
      const message = around && dom.closest(around, MESSAGE);
      if (message) messages.add(/** @type {PageElement} */ (message));
      else if (type === "attributes") changed.add(target);
      else for (const node of addedNodes) changed.add(node);
    }
    for (const node of changed) {
      const message = messageIn(node);
      if (message) messages.add(message);
    }
    for (const message of messages) noteOne(message);
  }

  /**
   * The first message in a node, or in the shadow root of an element that was added.
   * @param {Node} node
   * @returns {PageElement | null}
   */
  function messageIn(node) {
    if (!isElement(node)) return null;
    if (dom.matches(node, MESSAGE)) return node;
    if (searchedMs > LONGEST_SEARCH_MS) return null;
    const start = performance.now();
    const root = rootOf(node);
    if (root) observer?.observe(root, CHANGES);
    const found = (root && dom.allInRoot(root, MESSAGE)[0]) ?? dom.one(node, MESSAGE);
    searchedMs += performance.now() - start;
    return /** @type {PageElement | null} */ (found);
  }

  /** @param {PageElement} message */
  function noteOne(message) {
    const text = textOf(message);
    if (!text || before.get(message)?.includes(text)) return;
    const said = shown.get(message) ?? new Set();
    if (said.size < MOST_MESSAGES) said.add(text);
    shown.set(message, said);
  }

  /** The text of a message if a user can see it. @param {PageElement} message */
  function textOf(message) {
    if (!dom.connected(message) || !tabmux.visible(message)) return "";
    return collapse(dom.textContent(message) ?? "")
      .trim()
      .slice(0, LONGEST)
      .toWellFormed();
  }

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ watchMessages, passingMessages }));
})();
