/**
 * Pressing an element: whether it is still under the pointer, and which effect the press had. Only trusted events in this
 * document count.
 */
(() => {
  "use strict";
  const { dom, element, describe, holds, isElement, rootOf, reach, belongsTo, standIns, unusable } = tabmux;

  /**
   * Whether the element can be pressed at this point now, after the pointer was moved there, and has not moved since the
   * frame before.
   */
  tabmux.aim = async ({ n, x, y, rect }) => {
    await tabmux.drawnSince;
    const target = element(n);
    if (!target) return { ok: false, reason: "detached", detail: "" };
    const blocked = unusable(target);
    if (blocked) return blocked;
    const [was, is] = [reach.centre(rect), reach.centre(reach.bounds(target))];
    const away = Math.max(Math.abs(was.x - is.x), Math.abs(was.y - is.y));
    if (away > 1) return { ok: false, reason: "moving", detail: "" };
    const hit = reach.hitAt(x, y);
    if (!hit || !belongsTo(target, hit)) return { ok: false, reason: "covered", detail: hit ? describe(hit) : "" };
    return { ok: true, x, y };
  };

  /** Whether the point of the document in iframe `n` is still where it was found, and nothing covers it. */
  tabmux.aimFrame = ({ n, inner, x, y }) => {
    const frame = element(n);
    if (!frame) return { ok: false, reason: "detached", detail: "" };
    const at = reach.frameMatrix(frame).transformPoint(inner);
    if (Math.abs(at.x - x) > 1 || Math.abs(at.y - y) > 1) return { ok: false, reason: "moving", detail: "" };
    const hit = reach.hitAt(x, y);
    if (hit !== frame) return { ok: false, reason: "covered", detail: hit ? describe(hit) : "" };
    return { ok: true, x, y };
  };

  /** @type {{ target: PageElement, reached: boolean, stop(): void } | null} */
  let hover = null;

  /** Starts to watch whether the pointer comes over the element. */
  tabmux.watchHover = ({ n }) => {
    hover?.stop();
    const target = element(n);
    if (!target) return { ok: false, reason: "detached", detail: "" };
    const mine = { target, reached: false, stop };
    /** @param {Event} event */
    const note = (event) => {
      if (event.isTrusted) mine.reached ||= isOn(mine, targetOf(event));
    };
    function stop() {
      for (const type of MOVES) removeEventListener(type, note, true);
      hover = null;
    }
    for (const type of MOVES) addEventListener(type, note, true);
    hover = mine;
    return { ok: true };
  };

  /** Ends that: whether the pointer came over the element, and the element at this point otherwise. */
  tabmux.hovered = ({ x, y }) => {
    if (!hover) return { ok: false, reason: "detached", detail: "" };
    const { target, reached } = hover;
    hover.stop();
    const ok = reached || standIns(target).some((one) => dom.matches(one, ":hover"));
    const hit = reach.hitAt(x, y);
    return { ok, reason: "covered", detail: hit ? describe(hit) : "" };
  };

  /** @type {{ instead: string, stop(): void } | null} */
  let drop = null;

  /**
   * Starts to watch which element gets the drop at this point, right before the button is released. The dragged element
   * itself may be under the pointer. Fails if another frame covers the goal.
   */
  tabmux.watchDrop = ({ n, from, x, y }) => {
    drop?.stop();
    const goal = element(n);
    if (!goal) return { ok: false, reason: "detached", detail: "" };
    const hit = reach.hitAt(x, y);
    if (tabmux.isFrame(hit) && !belongsTo(goal, hit)) return { ok: false, reason: "covered", detail: describe(hit) };
    const meant = [goal, from ? element(from) : null].filter((one) => one !== null);
    /** @param {Node | null} at */
    const instead = (at) => (meant.some((target) => isOn({ target }, at)) ? "" : describe(at));
    const mine = { instead: instead(hit), stop };
    /** @param {Event} event */
    const note = (event) => {
      if (event.isTrusted) mine.instead = instead(targetOf(event));
    };
    function stop() {
      for (const type of DROPS) removeEventListener(type, note, true);
      drop = null;
    }
    for (const type of DROPS) addEventListener(type, note, true);
    drop = mine;
    return { ok: true };
  };

  /** Ends that: the element that got the drop, if it was neither the goal nor the dragged element. */
  tabmux.dropped = () => {
    const instead = drop?.instead ?? "";
    drop?.stop();
    return { instead };
  };

  /** @type {{ accepted: boolean, stop(): void } | null} */
  let files = null;

  /**
   * Starts to watch whether the page accepts files that are dragged over it: it then prevents the default. If it does so
   * for the drag and not for the drop, Chrome would open the files instead of the page.
   */
  tabmux.watchFiles = () => {
    files?.stop();
    const mine = { accepted: false, stop };
    /** @param {Event} event */
    const note = (event) => {
      // The page's own listeners come later.
      if (event.isTrusted) setTimeout(() => (mine.accepted = event.defaultPrevented), 0);
    };
    /** @param {Event} event */
    const stay = (event) => {
      if (event.isTrusted) event.preventDefault();
    };
    function stop() {
      removeEventListener("dragover", note, true);
      removeEventListener("drop", stay, true);
      files = null;
    }
    addEventListener("dragover", note, true);
    addEventListener("drop", stay, true);
    files = mine;
    return { accepted: false };
  };

  /** Whether the page accepted the files when they were last over it. */
  tabmux.filesAccepted = async () => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    return { accepted: files?.accepted ?? false };
  };

  /** Ends the watch. */
  tabmux.endFiles = () => files?.stop();

  /** @type {PressWatch | null} */
  let press = null;
  /** @type {PressReport} */
  let report = {};

  /**
   * Watches the next press, which ends with one of the events `clicks`. Resolves with its target as soon as this document gets the event, before the page handles it,
   * or with `{seen: false}` at the end of the watch.
   */
  tabmux.watchPress = ({ n, clicks }) => {
    press?.stop();
    report = {};
    const target = element(n);
    return target ? new Promise((tell) => startWatch(target, clicks, tell)) : { seen: false };
  };

  /** Ends the watch and returns the effect of the press. */
  tabmux.endPress = () => {
    if (press) report = endWatch(press);
    return report;
  };

  /** Does that, and then waits like `settle`. */
  tabmux.afterPress = async (limits) => {
    const ended = tabmux.endPress();
    return { ...(await tabmux.settle(limits)), ...ended };
  };

  /** @param {PageElement} target @param {string[]} clicks @param {(seen: PressSeen) => void} tell */
  function startWatch(target, clicks, tell) {
    /** @type {PressWatch} */
    const mine = { target, seen: false, likeness: likeness(target), clicks: 0, last: null, records: [], changes: null, stop };
    const before = positions(target);
    let missed = false;
    /** @param {Event} event */
    const note = (event) => {
      if (!event.isTrusted) return;
      const at = targetOf(event);
      const hit = isOn(mine, at);
      // What scrolled under the pointer was not meant: the page does not get this press, so that it can be repeated.
      if (!mine.seen && !hit && !tabmux.isFrame(/** @type {PageElement} */ (at)))
        missed = before.some(({ scroller, left, top }) => reach.scrollLeft(scroller) !== left || reach.scrollTop(scroller) !== top);
      if (missed) {
        event.stopImmediatePropagation();
        event.preventDefault();
      }
      if (!mine.seen) {
        mine.seen = true;
        const changes = new MutationObserver((records) => keep(mine, records));
        mine.changes = changes;
        changes.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        const root = dom.rootNode(target);
        if (root !== document) changes.observe(root, { subtree: true, childList: true, attributes: true });
        tell({ seen: true, hit, instead: hit ? "" : describe(at), scrolled: missed });
      }
      if (event.type.endsWith("up")) mine.last = at;
      if (clicks.includes(event.type) && hit) mine.clicks++;
    };
    function stop() {
      for (const type of WATCHED) removeEventListener(type, note, true);
      mine.changes?.disconnect();
      tell({ seen: false });
      press = null;
    }
    for (const type of WATCHED) addEventListener(type, note, true);
    press = mine;
  }

  /** How far everything around an element is scrolled. @param {PageElement} target */
  function positions(target) {
    const around = [];
    for (let scroller = tabmux.parentOf(target); scroller; scroller = tabmux.parentOf(scroller)) {
      around.push({ scroller, left: reach.scrollLeft(scroller), top: reach.scrollTop(scroller) });
    }
    return around;
  }

  /** @param {PressWatch} mine */
  function endWatch(mine) {
    keep(mine, mine.changes?.takeRecords() ?? []);
    mine.stop();
    // A list that the browser draws itself gets the rest of the press.
    const clicks = dom.tag(mine.target) === "select" ? 2 : mine.clicks;
    return { clicks, lost: whyLost(mine), reacted: mine.records.some((record) => isReaction(record, mine)) };
  }

  /** @param {PressWatch} watch @param {MutationRecord[]} more */
  function keep({ records }, more) {
    records.push(...more.slice(0, MOST_CHANGES - records.length));
  }

  /** Why no click reached the element. @param {PressWatch} watch */
  function whyLost({ target, last }) {
    if (!dom.connected(target)) return "it is no longer on the page";
    const blocked = unusable(target);
    if (blocked?.reason === "disabled") return "it is disabled now";
    if (blocked?.reason === "hidden") return "it is not visible any more";
    if (last && !isOn({ target }, last)) return `${describe(last)} was under the pointer when the mouse button was released`;
    return "the page stopped the event";
  }

  /**
   * Whether something else has changed than the element itself or an element that replaced it.
   * @param {MutationRecord} record
   * @param {PressWatch} mine
   */
  function isReaction(record, mine) {
    const { target } = mine;
    if (record.type === "childList") {
      return [...record.addedNodes].some((node) => {
        const inside = isElement(node) ? [node, ...dom.all(node, "*")] : [];
        return !inside.some((one) => one === target || likeness(one) === mine.likeness);
      });
    }
    const changed = record.target;
    return !(isElement(changed) && (holds(changed, target) || holds(target, changed)));
  }

  /**
   * Whether an event at this element belongs to the target.
   * @param {{ target: PageElement }} watch
   * @param {Node | null} at @returns {at is PageElement}
   */
  function isOn({ target }, at) {
    return at instanceof Element && isElement(at) && (belongsTo(target, at) || hiddenBy(at, target));
  }

  /** The target of an event, also inside open shadow roots. @param {Event} event @returns {Node} */
  const targetOf = (event) => /** @type {Node} */ (event.composedPath()[0]);

  /**
   * Events inside a closed shadow root have its host as target.
   * @param {PageElement} host
   * @param {PageElement} target
   */
  function hiddenBy(host, target) {
    return rootOf(host)?.mode === "closed" && holds(host, target);
  }

  /** The same text for two elements, if one replaced the other. @param {PageElement} target */
  function likeness(target) {
    const attributes = ["id", "role", "name", "type", "href", "aria-label"].map((name) => dom.attribute(target, name));
    return JSON.stringify([dom.tag(target), ...attributes, (dom.textContent(target) ?? "").slice(0, 200)]);
  }

  /** The most changes that are kept of one press. */
  const MOST_CHANGES = 200;
  const MOVES = ["pointerover", "mouseover", "pointermove", "mousemove"];
  const DROPS = ["pointerup", "mouseup", "drop"];
  const WATCHED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "contextmenu"];
})();
