/**
 * Hides frames that a screenshot must not show, while it is taken. The page may notice, but if it shows them again, the
 * result at the end says so.
 */
(() => {
  "use strict";
  const { dom, element } = tabmux;

  /** @type {Cover | null} */
  let cover = null;

  /** Hides the elements of these frames. Returns whether they are hidden after the next frames were drawn. */
  tabmux.cover = async ({ frames }) => {
    tabmux.uncover();
    /** @type {Cover} */
    const mine = {
      hidden: [],
      touched: false,
      observer: new MutationObserver((records) => {
        mine.touched ||= records.some((record) => touches(record, mine));
      }),
    };
    cover = mine;
    for (const n of frames) {
      const frame = element(n);
      if (!frame) return { ok: false };
      /** @type {Cover["hidden"][number]["properties"]} */
      const properties = Object.keys(HIDING).map((name) => [name, frame.style.getPropertyValue(name), frame.style.getPropertyPriority(name)]);
      mine.hidden.push({ frame, bare: !dom.has(frame, "style"), properties });
      for (const [name, value] of Object.entries(HIDING)) frame.style.setProperty(name, value, "important");
      mine.observer.observe(frame, { attributes: true, attributeFilter: ["style"] });
      // A frame element can be moved in the document and back without a reload.
      const parent = dom.parent(frame);
      if (parent) mine.observer.observe(parent, { childList: true });
    }
    await tabmux.nextFrame();
    await tabmux.nextFrame();
    return { ok: isWhole(mine) };
  };

  /** Shows them again. Returns whether they were hidden all the time. */
  tabmux.uncover = () => {
    if (!cover) return { ok: false };
    const mine = cover;
    cover = null;
    const ok = isWhole(mine);
    mine.observer.disconnect();
    for (const { frame, bare, properties } of mine.hidden) {
      for (const [name, value, priority] of properties) frame.style.setProperty(name, value, priority);
      if (bare && !dom.attribute(frame, "style")) frame.removeAttribute("style");
    }
    return { ok };
  };

  /**
   * Whether a change is about a hidden frame, and not about a sibling.
   * @param {MutationRecord} record
   * @param {Cover} cover
   */
  function touches({ type, removedNodes }, { hidden }) {
    return type === "attributes" || hidden.some(({ frame }) => [...removedNodes].includes(frame));
  }

  /** @param {Cover} mine */
  function isWhole(mine) {
    const { hidden, observer, touched } = mine;
    if (touched || observer.takeRecords().some((record) => touches(record, mine))) return false;
    // A running view transition shows images from before.
    if (document.activeViewTransition) return false;
    return hidden.every(({ frame }) => dom.connected(frame) && getComputedStyle(frame).visibility === "hidden");
  }

  /** With a transition, the page could keep the frame visible for longer. */
  const HIDING = { transition: "none", visibility: "hidden" };
})();
