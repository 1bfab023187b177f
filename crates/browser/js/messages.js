/**
 * Messages that a page shows only for a moment, such as a toast: watched while an action runs, so that its answer can
 * tell those that are gone by then.
 */
(() => {
  "use strict";
  const { dom, collapse, isElement } = tabmux;

  const MESSAGE = "[role=alert], [role=status], [aria-live]:not([aria-live=off]), [class*=toast i], [class*=snackbar i], [class*=notification i]";
  const MOST_RECORDS = 500;
  const MOST_MESSAGES = 5;
  const LONGEST = 200;

  /** @type {MutationObserver | null} */
  let observer = null;
  /** What was shown: the text of each message, by its element. @type {Map<PageElement, Set<string>>} */
  let shown = new Map();

  /** Begins to watch; what an earlier watch found is dropped. @type {Tabmux["watchMessages"]} */
  function watchMessages() {
    observer?.disconnect();
    shown = new Map();
    observer = new MutationObserver(note);
    observer.observe(document, { subtree: true, childList: true, characterData: true });
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
    return { texts: [...new Set(texts)].slice(0, MOST_MESSAGES) };
  }

  /** @param {MutationRecord[]} records */
  function note(records) {
    for (const { target, addedNodes } of records.slice(0, MOST_RECORDS)) {
      if (shown.size >= 4 * MOST_MESSAGES) return;
      const around = isElement(target) ? target : tabmux.parentOf(target);
      const message = around && dom.closest(around, MESSAGE);
      if (message) noteOne(message);
      else for (const node of addedNodes) noteInside(node);
    }
  }

  /** @param {Node} node */
  function noteInside(node) {
    if (!isElement(node)) return;
    const message = dom.matches(node, MESSAGE) ? node : dom.one(node, MESSAGE);
    if (message) noteOne(/** @type {PageElement} */ (message));
  }

  /** @param {PageElement} message */
  function noteOne(message) {
    const text = textOf(message);
    if (!text) return;
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
