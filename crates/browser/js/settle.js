/**
 * Waiting until the document has stopped changing or a text is shown; scrolling; the title; the focused element; changes
 * since the last survey.
 */
(() => {
  "use strict";
  const { dom, element, describe, parentOf, isElement, rootOf, reach } = tabmux;

  /** Resolves after `quietFrames` frames in a row without a change of the document, or after `capMs`. */
  tabmux.settle = async ({ quietFrames = 1, capMs = 100 } = {}) => {
    const start = performance.now();
    let changed = false;
    const observer = watchChanges(() => (changed = true));
    let quiet = 0;
    while (quiet < quietFrames && performance.now() - start < capMs) {
      changed = false;
      await tabmux.nextFrame();
      // Records of this frame may not have been delivered to the observer yet.
      if (observer.takeRecords().length) changed = true;
      quiet = changed ? 0 : quiet + 1;
    }
    observer.disconnect();
    return { quiet: quiet >= quietFrames };
  };

  /** Cancels all timers and animation frames of the page, if there are not too many. */
  tabmux.dropTimers = () => {
    const nothing = () => {};
    for (let id = setTimeout(nothing), n = 0; id > 0 && n < MOST_TIMERS; id--, n++) clearTimeout(id);
    for (let id = requestAnimationFrame(nothing), n = 0; id > 0 && n < MOST_TIMERS; id--, n++) cancelAnimationFrame(id);
  };
  const MOST_TIMERS = 100_000;

  /** Resolves with the first of the texts that is shown in this document, or with null after `timeoutMs`. */
  tabmux.waitForText = ({ texts, timeoutMs }) => watchFor(timeoutMs, () => texts[tabmux.hasText({ texts }).present.indexOf(true)]);

  /** Resolves with true when none of the texts is shown in this document, or with null after `timeoutMs`. */
  tabmux.waitForTextGone = ({ texts, timeoutMs }) => watchFor(timeoutMs, () => !tabmux.hasText({ texts }).present.includes(true));

  /** Resolves with an element that the selector finds and that is shown, or with null after `timeoutMs`. */
  tabmux.waitForSelector = ({ selector, timeoutMs }) =>
    watchFor(timeoutMs, () => {
      const shown = [...dom.allInDocument(document, selector)].find((node) => reach.hasBox(node));
      return shown && describe(shown);
    });

  /** Whether a selector is valid. */
  tabmux.isSelector = ({ selector }) => {
    try {
      dom.allInDocument(document, selector);
      return true;
    } catch {
      return false;
    }
  };

  /**
   * Calls `look` after every change of the document until it finds something.
   * @template T
   * @param {number} timeoutMs
   * @param {() => T | false | null | undefined} look
   * @returns {Promise<{ found: T | null }>}
   */
  async function watchFor(timeoutMs, look) {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const looked = performance.now();
      const found = look();
      if (found) return { found };
      const left = deadline - performance.now();
      if (left <= 0) return { found: null };
      // On a page that changes all the time, looking takes at most a fifth of the time.
      const cost = performance.now() - looked;
      await nextChange(left, Math.min(Math.max(30, cost * 4), 1000));
    }
  }

  /** Scrolls the scroller of the element, or of the page, and returns its new position. */
  tabmux.scroll = ({ n, direction, amount }) => {
    const target = n ? element(n) : null;
    if (n && !target) return { ok: false, reason: "detached", detail: "" };
    const sideways = direction === "left" || direction === "right";
    const scroller = scrollerOf(target, sideways);
    if (!scroller) return { ok: false, reason: "no-scroller", detail: "" };
    const before = position(scroller);
    const by = amount ?? 0.85 * (sideways ? before.viewWidth : before.viewHeight);
    const [left, top] = {
      up: [before.x, before.y - by],
      down: [before.x, before.y + by],
      left: [before.x - by, before.y],
      right: [before.x + by, before.y],
      top: [before.x, 0],
      bottom: [before.x, before.height],
    }[direction];
    reach.scrollTo(scroller, { left, top, behavior: "instant" });
    const at = position(scroller);
    const page = scroller === reach.scrollingElement(document);
    return { ok: true, scroller: page ? "" : describe(scroller), moved: [at.x - before.x, at.y - before.y], at };
  };

  /** The title of the document, even if an element is named `title`. */
  tabmux.title = () => tabmux.clean(dom.title(document));

  /** The element that receives typing. */
  tabmux.focusedElement = () => {
    const target = tabmux.focused();
    const none = !target || dom.tag(target) === "body" || target === dom.documentElement(document);
    if (none) return { focused: false };
    const frame = dom.tag(target) === "iframe" || dom.tag(target) === "frame";
    const text = dom.tag(target) === "textarea" || (dom.tag(target) === "input" && !UNTYPED.has(target.type ?? ""));
    const editable = text || (target instanceof HTMLElement && dom.editable(target));
    return { focused: true, n: tabmux.ref(target), frame, editable, element: describe(target) };
  };

  /* Whether the document has changed since the last survey, and the callback that waits for a change. */
  /** @type {{ changed: boolean, wake: (() => void) | null, roots: number, tell(): void, observer: MutationObserver } | null} */
  let survey = null;

  /** Watches for the first change from now on. Then the observer is removed, so a busy page pays for one change only. */
  tabmux.beginWatching = () => {
    survey?.observer.disconnect();
    const tell = () => {
      mine.observer.disconnect();
      mine.changed = true;
      mine.wake?.();
    };
    /** @type {NonNullable<typeof survey>} */
    const mine = { changed: false, wake: null, roots: countRoots(), tell, observer: watchChanges(tell) };
    survey?.wake?.();
    survey = mine;
  };

  /** Resolves when the document has changed since the last survey, or after `limitMs`. */
  tabmux.changedSince = ({ limitMs }) =>
    new Promise((resolve) => {
      if (!survey || survey.changed) return resolve({ changed: true });
      const mine = survey;
      // A component gets its shadow root without a mutation record, so the roots are counted.
      const rounds = setInterval(() => countRoots() !== mine.roots && mine.tell(), 1000);
      /** @param {boolean} changed */
      const answer = (changed) => {
        clearTimeout(timer);
        clearInterval(rounds);
        resolve({ changed });
      };
      const timer = setTimeout(() => answer(mine.changed), limitMs);
      mine.wake = () => answer(true);
    });

  function countRoots() {
    let count = 0;
    for (const _ of knownRoots()) count++;
    return count;
  }

  /** @param {() => void} tell */
  function watchChanges(tell) {
    const observer = new MutationObserver(tell);
    const everything = { subtree: true, childList: true, characterData: true, attributes: true };
    observer.observe(document, everything);
    for (const root of knownRoots()) observer.observe(root, everything);
    return observer;
  }

  /**
   * Resolves `pause` milliseconds after the next change, and after `limit` at the latest.
   * @param {number} limit
   * @param {number} pause
   */
  async function nextChange(limit, pause) {
    const start = performance.now();
    /** @type {MutationObserver | undefined} */
    let observer;
    await new Promise((resolve) => {
      observer = watchChanges(() => resolve(undefined));
      // Some texts appear without a mutation: a style sheet loads, a script sets a field's value.
      setTimeout(resolve, Math.min(limit, 500));
    });
    observer?.disconnect();
    const left = limit - (performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, pause)));
  }

  /**
   * All known shadow roots, at any depth.
   * @param {Document | ShadowRoot} [within]
   * @returns {Generator<ShadowRoot>}
   */
  function* knownRoots(within = document) {
    const all = within === document ? dom.allInDocument(document, "*") : dom.allInRoot(within, "*");
    for (const host of all) {
      const root = rootOf(host);
      if (root) {
        yield root;
        yield* knownRoots(root);
      }
    }
  }

  /**
   * The nearest scroller around the element. Without an element, the page's own, else the largest one in it.
   * @param {PageElement | null} target
   * @param {boolean} sideways
   */
  function scrollerOf(target, sideways) {
    const page = reach.scrollingElement(document);
    for (let node = /** @type {PageElement | null} */ (target); node; node = parentOf(node)) {
      if (node === page || node === dom.documentElement(document)) break;
      if (canScroll(node, sideways)) return node;
    }
    if (page && canMove(page, sideways) && !isLocked()) return page;
    return target ? null : largestScroller(sideways);
  }

  /** @param {PageElement} node @param {boolean} sideways */
  function canScroll(node, sideways) {
    if (!canMove(node, sideways)) return false;
    const { overflowX, overflowY } = getComputedStyle(node);
    return /auto|scroll|overlay/.test(sideways ? overflowX : overflowY);
  }

  /** @param {PageElement} node @param {boolean} sideways */
  function canMove(node, sideways) {
    const { width, height, viewWidth, viewHeight } = position(node);
    return sideways ? width > viewWidth : height > viewHeight;
  }

  /** A page under an open dialog often hides its overflow, so that only the dialog scrolls. */
  function isLocked() {
    const top = dom.documentElement(document);
    const own = top ? getComputedStyle(top).overflowY : "visible";
    const body = dom.allInDocument(document, "html > body")[0];
    const used = own === "visible" && body ? getComputedStyle(body).overflowY : own;
    return used === "hidden" || used === "clip";
  }

  /** @param {boolean} sideways */
  function largestScroller(sideways) {
    let best = null;
    let bestArea = 0;
    /** @param {Iterable<PageElement>} nodes */
    const search = (nodes) => {
      for (const node of nodes) {
        if (!isElement(node)) continue;
        if (canScroll(node, sideways) && tabmux.visible(node)) {
          const { width, height } = dom.rect(node);
          if (width * height > bestArea) [best, bestArea] = [node, width * height];
        }
        const root = rootOf(node);
        if (root) search(dom.allInRoot(root, "*"));
      }
    };
    search(dom.allInDocument(document, "*"));
    return best;
  }

  /** @param {PageElement} scroller */
  function position(scroller) {
    return {
      x: reach.scrollLeft(scroller),
      y: reach.scrollTop(scroller),
      width: reach.scrollWidth(scroller),
      height: reach.scrollHeight(scroller),
      viewWidth: reach.clientWidth(scroller),
      viewHeight: reach.clientHeight(scroller),
    };
  }

  const UNTYPED = new Set(["button", "submit", "reset", "image", "checkbox", "radio", "range", "color", "file", "hidden"]);
})();
