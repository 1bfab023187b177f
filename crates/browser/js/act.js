/**
 * Acting on elements: whether an element is ready, at which point it can be pressed, and what covers it.
 * Every result is `{ok: true, …}` or `{ok: false, reason, detail}`.
 */
(() => {
  "use strict";
  const { dom, element, describe, holds, parentOf, reach } = tabmux;

  /** @param {Document} scope */
  const documentAnimations = (scope) => Document.prototype.getAnimations.call(scope);

  /**
   * Waits until the element can be pressed and returns where, or after `waitMs` why it cannot. With `evenDisabled`, a
   * disabled element is accepted, for moving the pointer only. With `once`, it returns without waiting for a second
   * frame; the caller checks again with `aim`.
   */
  tabmux.prepare = ({ n, waitMs = 0, evenDisabled = false, once = false }) => {
    const target = element(n);
    if (!target) return failure("detached");
    if (dom.tag(target) === "option" && !reach.hasBox(target)) return failure("option");
    if (once && !animated()) {
      const { point, ...now } = look(target, evenDisabled);
      tabmux.drawnSince = now.ok && tabmux.nextFrame(250);
      if (now.ok) return now;
    }
    return ready(target, waitMs, () => look(target, evenDisabled));
  };

  /**
   * Maps a point of the document in iframe `n` to this frame, after scrolling it into view and checking that nothing
   * covers it.
   */
  tabmux.hitFrame = ({ n, x, y, waitMs = 0 }) => {
    const frame = element(n);
    if (!frame) return failure("detached");
    const point = () => reach.frameMatrix(frame).transformPoint({ x, y });
    return ready(frame, waitMs, () => {
      const blocked = unusable(frame);
      if (blocked) return blocked;
      const at = point();
      if (!reach.inViewport(at)) return { ...failure("outside"), point };
      const hit = reach.hitAt(at.x, at.y);
      if (hit !== frame) return { ...covered(frame, hit), point };
      return { ok: true, x: at.x, y: at.y, rect: reach.bounds(frame) };
    });
  };

  /** The matrix `[a, b, c, d, e, f]` from the viewport of the document in iframe `n` to ours. */
  tabmux.frameBox = ({ n }) => {
    const frame = element(n);
    if (!frame) return failure("detached");
    const { a, b, c, d, e, f } = reach.frameMatrix(frame);
    return { ok: true, matrix: [a, b, c, d, e, f] };
  };

  /** The box of an element that can be pressed where it is now; null if it is out of view or covered. */
  tabmux.visibleBox = ({ n }) => {
    const target = element(n);
    const seen = target ? look(target, true) : failure("detached");
    return seen.ok ? seen.rect : null;
  };

  /** The element at a point of the viewport, and the size of the viewport. */
  tabmux.at = ({ x, y }) => {
    const hit = reach.hitAt(x, y);
    return { width: innerWidth, height: innerHeight, hit: hit ? describe(hit) : null };
  };

  /** The element of a frame at a point of the viewport, and the point inside that frame; `{}` if there is none. */
  tabmux.frameAt = ({ x, y }) => {
    const hit = reach.hitAt(x, y);
    if (!isFrame(hit)) return {};
    const inner = reach.frameMatrix(hit).inverse().transformPoint({ x, y });
    return { n: tabmux.ref(hit), x: inner.x, y: inner.y };
  };

  /** The frame element that has the focus; `{}` if none has. */
  tabmux.focusedFrame = () => {
    const focused = tabmux.focused();
    return isFrame(focused) ? { n: tabmux.ref(focused) } : {};
  };

  tabmux.isFrame = isFrame;
  /** @type {Tabmux["isFrame"]} */
  function isFrame(node) {
    return !!node && FRAMES.has(dom.tag(node));
  }

  /** Scrolls the element's middle into view, without waiting. */
  tabmux.bringIntoView = ({ n }) => {
    const target = element(n);
    if (!target) return failure("detached");
    if (!reach.hasBox(target)) return failure("hidden", whyHidden(target));
    reach.bring(target, () => middleOf(target), null);
    return { ok: true, rect: reach.bounds(target) };
  };

  /** Resolves with true at the next animation frame, or with false if none is drawn within that time. */
  tabmux.nextFrame = (patienceMs = 60) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs, false);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });

  /** Why the element accepts no input, or null if it does. */
  tabmux.unusable = unusable;
  /** @type {Tabmux["unusable"]} */
  function unusable(target, evenDisabled = false) {
    if (!dom.connected(target)) return failure("detached");
    for (let node = /** @type {PageElement | null} */ (target); node; node = parentOf(node)) {
      const detail = node === target ? "" : describe(node);
      if (!evenDisabled && isDisabled(node)) return failure("disabled", detail);
      if (dom.has(node, "inert")) return failure("inert", detail);
    }
    const control = dom.tag(target) === "label" ? target.control : null;
    if (control && !evenDisabled && isDisabled(control)) return failure("disabled", describe(control));
    if (!reach.hasBox(target)) return failure("hidden", whyHidden(target));
    return null;
  }

  /**
   * A disabled fieldset disables its controls, which then match `:disabled` themselves, but not its links.
   * @param {PageElement} node
   */
  function isDisabled(node) {
    if (dom.attribute(node, "aria-disabled") === "true") return true;
    return dom.tag(node) !== "fieldset" && dom.matches(node, ":disabled");
  }

  /** @param {PageElement} target */
  function whyHidden(target) {
    for (let node = /** @type {PageElement | null} */ (target); node; node = parentOf(node)) {
      const hides = getComputedStyle(node).display === "none";
      if (hides) return node === target ? "display: none" : `display: none on ${describe(node)}`;
    }
    const { visibility } = getComputedStyle(target);
    return visibility === "visible" ? "it has no size" : `visibility: ${visibility}`;
  }

  /**
   * Checks the element once: returns the point to press, or what prevents it.
   * @param {PageElement} target
   * @param {boolean} evenDisabled
   * @returns {Look}
   */
  function look(target, evenDisabled) {
    const blocked = unusable(target, evenDisabled);
    if (blocked) return blocked;
    const point = () => middleOf(target);
    let obstacle;
    for (const { x, y } of reach.candidates(target)) {
      const hit = reach.hitAt(x, y);
      if (hit && belongsTo(target, hit)) return { ok: true, x, y, rect: reach.bounds(target), frame: isFrame(hit) };
      obstacle ??= { hit };
    }
    return obstacle ? { ...covered(target, obstacle.hit), point } : { ...failure("outside"), point };
  }

  /**
   * Repeats `see` in each frame until it succeeds twice at the same place. In between, the element is scrolled: first
   * into view, then away from elements that stick to the edges. After a failure, all scrolling is undone.
   * @param {PageElement} target
   * @param {number} waitMs
   * @param {() => Look} see
   * @returns {Promise<Ready>}
   */
  async function ready(target, waitMs, see) {
    const deadline = performance.now() + waitMs;
    /** @type {(number | null)[]} */
    const places = [null, 0.5, 0.25, 0.75];
    /** @type {Moved} */
    const moved = new Map();
    /** @type {{ rect: Box } | null} */
    let before = null;
    let still = 0;
    let moving = false;
    for (let frames = 0; ; frames++) {
      let { point, ...now } = see();
      while (point && places.length) {
        reach.bring(target, point, places.shift() ?? null, moved);
        ({ point, ...now } = see());
      }
      if (now.ok && before) {
        const rests = apart(before, now) <= 1;
        still = rests ? still + 1 : 0;
        moving ||= !rests;
        // An element that moved must stay still for longer, because it may stop for one frame when it turns around. And
        // after scrolling, the browser needs one more frame to know where other processes draw.
        if (still >= (moving ? 3 : moved.size ? 2 : 1)) return now;
      }
      let late = frames > 0 && performance.now() >= deadline;
      if (late && now.ok && !moving) return now;
      // If frames are slow, a moving element gets more time.
      if (late && now.ok && frames < 20) late = performance.now() >= deadline + 3 * waitMs;
      if (late || (!now.ok && now.reason === "detached")) {
        reach.putBack(moved);
        return now.ok ? failure("moving") : now;
      }
      if (!now.ok && now.reason === "outside") places.push(null);
      const drawn = await tabmux.nextFrame(250);
      // Without a new frame, an animation only seems to stand still.
      before = now.ok && (drawn || !animated()) ? now : null;
    }
  }

  function animated() {
    return documentAnimations(document).some((animation) => animation.playState === "running");
  }

  /**
   * How far the middle of the box moved between two checks. An element that only changes its size does not move.
   * @param {{ rect: Box }} before
   * @param {{ rect: Box }} now
   */
  function apart(before, now) {
    const [a, b] = [reach.centre(before.rect), reach.centre(now.rect)];
    return Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y));
  }

  /** @param {PageElement} target */
  function middleOf(target) {
    return reach.centre(reach.boxes(target)[0] ?? reach.bounds(target));
  }

  /** Whether a press on `hit` is a press on `target`. */
  tabmux.belongsTo = belongsTo;
  /** @type {Tabmux["belongsTo"]} */
  function belongsTo(target, hit) {
    return standIns(target).some((one) => holds(one, hit));
  }

  /** The element, and the elements that can be pressed instead, such as its label. */
  tabmux.standIns = standIns;
  /** @type {Tabmux["standIns"]} */
  function standIns(target) {
    /** @type {(PageElement | null)[]} */
    const accepted = [target, ...reach.labelsOf(target)];
    if (dom.tag(target) === "label" && target.control) accepted.push(target.control);
    if (dom.tag(target) === "area") accepted.push(reach.pictureOf(target));
    // An icon with `pointer-events: none` is pressed by pressing its button.
    if (letsThrough(target)) accepted.push(dom.closest(target, PRESSABLE));
    return accepted.filter((one) => one !== null);
  }

  /** @param {PageElement} target */
  function letsThrough(target) {
    return getComputedStyle(target).pointerEvents === "none";
  }

  /** @param {PageElement} target @param {PageElement | null} hit */
  function covered(target, hit) {
    if (letsThrough(target)) return failure("pointer-events");
    return failure("covered", hit ? describe(hit) : "");
  }

  /** @param {string} reason @param {string} [detail] @returns {Failure} */
  function failure(reason, detail = "") {
    return { ok: false, reason, detail };
  }

  const FRAMES = new Set(["iframe", "frame", "object", "embed", "fencedframe"]);
  const PRESSABLE = "a[href], button, summary, label, [role=button], [role=link], [role=menuitem], [role=option], [role=tab], [tabindex]";
})();
