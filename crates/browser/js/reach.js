/**
 * Geometry of elements: the boxes that a user can press, the element at a point, scrolling a point into view, and the
 * mapping from a child frame's viewport to ours. All points are in the viewport of the frame this runs in.
 */
tabmux.reach = (() => {
  "use strict";
  const { dom, parentOf, rootOf, getter, method } = tabmux;

  const scrollBy = /** @type {Reach["scrollTo"]} */ (/** @type {unknown} */ (method(Element.prototype, "scrollBy")));
  const scrollTo = /** @type {Reach["scrollTo"]} */ (/** @type {unknown} */ (method(Element.prototype, "scrollTo")));
  const scrollTop = getter(Element.prototype, "scrollTop");
  const scrollLeft = getter(Element.prototype, "scrollLeft");
  const scrollWidth = getter(Element.prototype, "scrollWidth");
  const scrollHeight = getter(Element.prototype, "scrollHeight");
  const clientTop = getter(Element.prototype, "clientTop");
  const clientLeft = getter(Element.prototype, "clientLeft");
  const clientWidth = getter(Element.prototype, "clientWidth");
  const clientHeight = getter(Element.prototype, "clientHeight");
  const offsetHeight = getter(HTMLElement.prototype, "offsetHeight");
  const scrollingElement = /** @type {Reach["scrollingElement"]} */ (getter(Document.prototype, "scrollingElement"));
  const documentHit = /** @type {(root: Document, x: number, y: number) => PageElement | null} */ (method(Document.prototype, "elementFromPoint"));
  const shadowHit = /** @type {(root: ShadowRoot, x: number, y: number) => PageElement | null} */ (method(ShadowRoot.prototype, "elementFromPoint"));

  /** The element's boxes with an area: a link over three lines has three. @type {Reach["boxes"]} */
  function boxes(target) {
    if (dom.tag(target) === "area") return areaBoxes(target);
    const own = withArea(dom.rects(target));
    if (own.length) return own;
    // `display: contents`, or an inline element around blocks: the content has the boxes.
    const range = new Range();
    range.selectNodeContents(rootOf(target) ?? target);
    const content = withArea(range.getClientRects());
    if (content.length) return content;
    // A hidden checkbox behind a styled one: users press the label.
    return labelsOf(target).flatMap((label) => withArea(dom.rects(label)));
  }

  /** One box around the element, or around the first of its boxes. @type {Reach["bounds"]} */
  function bounds(target) {
    const [first] = boxes(target);
    const { x, y, width, height } = dom.rect(target);
    return width > 0 && height > 0 ? { x, y, width, height } : (first ?? { x, y, width, height });
  }

  /** Whether the element has a visible box to press. @type {Reach["hasBox"]} */
  function hasBox(target) {
    return boxes(target).length > 0 && isVisible(target);
  }

  /** @param {PageElement} target */
  function isVisible(target) {
    if (dom.tag(target) === "area" || tabmux.visible(target)) return true;
    const { display, visibility } = getComputedStyle(target);
    if (display === "contents") return visibility === "visible";
    return labelsOf(target).some(tabmux.visible);
  }

  /** @type {Reach["labelsOf"]} */
  function labelsOf(target) {
    return LABELABLE.has(dom.tag(target)) ? [...(target.labels ?? [])] : [];
  }

  /** @param {Iterable<Box>} rects */
  function withArea(rects) {
    return Array.from(rects, ({ x, y, width, height }) => ({ x, y, width, height })).filter(({ width, height }) => width > 0 && height > 0);
  }

  /** An area of an image map has no box of its own; its shape is a part of the image. @param {PageElement} area */
  function areaBoxes(area) {
    const picture = pictureOf(area);
    const [image] = picture ? withArea(dom.rects(picture)) : [];
    if (!image) return [];
    const shape = (dom.attribute(area, "shape") ?? "rect").toLowerCase();
    const at = (dom.attribute(area, "coords") ?? "").split(/[\s,]+/).map(Number);
    if (shape === "default" || at.some(Number.isNaN)) return [image];
    if (shape.startsWith("circ")) {
      const half = at[2] / Math.SQRT2;
      return withArea([{ x: image.x + at[0] - half, y: image.y + at[1] - half, width: 2 * half, height: 2 * half }]);
    }
    const xs = at.filter((_, i) => i % 2 === 0);
    const ys = at.filter((_, i) => i % 2 === 1);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
    return withArea([{ x: image.x + left, y: image.y + top, width, height }]);
  }

  /** @type {Reach["pictureOf"]} */
  function pictureOf(area) {
    const map = dom.closest(area, "map");
    const name = map && `#${dom.attribute(map, "name")}`;
    const root = dom.rootNode(area);
    const pictures = root === document ? dom.allInDocument(root, "img[usemap]") : dom.allInRoot(root, "img[usemap]");
    return [...pictures].find((image) => dom.attribute(image, "usemap") === name) ?? null;
  }

  /** The innermost element at a point, through open and known closed shadow roots. @type {Reach["hitAt"]} */
  function hitAt(x, y) {
    let hit = documentHit(document, x, y);
    while (hit) {
      const root = rootOf(hit);
      const inner = root && shadowHit(root, x, y);
      if (!inner || inner === hit || dom.rootNode(inner) !== root) break;
      hit = inner;
    }
    return hit;
  }

  /**
   * Points to try: the middle of each visible box first, then points near its edges.
   * @type {Reach["candidates"]}
   */
  function* candidates(target) {
    const pieces = boxes(target)
      .map(visiblePart)
      .filter((part) => part !== null)
      .slice(0, 5);
    for (const [fx, fy] of SPOTS) {
      for (const { x, y, width, height } of pieces) yield { x: x + width * fx, y: y + height * fy };
    }
  }

  /** @param {Box} box */
  function visiblePart(box) {
    const x = Math.max(box.x, 0);
    const y = Math.max(box.y, 0);
    const width = Math.min(box.x + box.width, innerWidth) - x;
    const height = Math.min(box.y + box.height, innerHeight) - y;
    return width > 0 && height > 0 ? { x, y, width, height } : null;
  }

  /** @type {Reach["inViewport"]} */
  function inViewport({ x, y }) {
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  }

  /**
   * Scrolls every scroller around the element whose visible part does not contain the point, or, with a place,
   * scrolls the point to that fraction of each scroller's height. `moved` collects the positions before.
   * @type {Reach["bring"]}
   */
  function bring(target, point, place, moved = new Map()) {
    const page = scrollingElement(document);
    for (let node = parentOf(target); node; node = parentOf(node)) {
      if (node === page || node === dom.documentElement(document)) continue;
      if (scrolls(node)) nudge(node, scrollport(node), point, place, moved);
    }
    if (page) nudge(page, { x: 0, y: 0, width: innerWidth, height: innerHeight, scale: 1 }, point, place, moved);
  }

  /** Moves scrollers back to their positions before. @type {Reach["putBack"]} */
  function putBack(moved) {
    for (const [scroller, { left, top }] of moved) scrollTo(scroller, { left, top, behavior: "instant" });
  }

  /** @param {PageElement} node */
  function scrolls(node) {
    if (scrollHeight(node) <= clientHeight(node) && scrollWidth(node) <= clientWidth(node)) return false;
    const { overflowX, overflowY } = getComputedStyle(node);
    return [overflowX, overflowY].some((overflow) => overflow !== "visible" && overflow !== "clip");
  }

  /** The visible part of a scroller, and its scale by transforms. @param {PageElement} node */
  function scrollport(node) {
    const rect = dom.rect(node);
    const plain = node instanceof HTMLElement ? offsetHeight(node) : rect.height;
    const scale = plain ? rect.height / plain : 1;
    const [x, y] = [rect.x + clientLeft(node) * scale, rect.y + clientTop(node) * scale];
    return { x, y, width: clientWidth(node) * scale, height: clientHeight(node) * scale, scale };
  }

  /**
   * @param {PageElement} scroller
   * @param {Box & { scale: number }} port
   * @param {() => Point} point
   * @param {number | null} place
   * @param {Moved} moved
   */
  function nudge(scroller, port, point, place, moved) {
    const at = point();
    const dx = outOf(at.x, port.x, port.width) ? at.x - port.x - port.width / 2 : 0;
    let dy = outOf(at.y, port.y, port.height) ? at.y - port.y - port.height / 2 : 0;
    if (place !== null) dy = at.y - port.y - port.height * place;
    if (!dx && !dy) return;
    const before = { left: scrollLeft(scroller), top: scrollTop(scroller) };
    scrollBy(scroller, { left: dx / port.scale, top: dy / port.scale, behavior: "instant" });
    if (scrollLeft(scroller) === before.left && scrollTop(scroller) === before.top) return;
    const now = point();
    // A fixed element does not move with this scroller: undo the scrolling.
    if (now.x === at.x && now.y === at.y) return putBack([[scroller, before]]);
    if (!moved.has(scroller)) moved.set(scroller, before);
  }

  /** @param {number} value @param {number} start @param {number} length */
  function outOf(value, start, length) {
    return value < start || value >= start + length;
  }

  /**
   * From the viewport of an iframe's document to ours. The linear part is the product of all transforms around the
   * iframe; the middle of its box is the middle of its bounding box, for any transform.
   * @type {Reach["frameMatrix"]}
   */
  function frameMatrix(frame) {
    const rect = dom.rect(frame);
    const { offsetWidth = 0, offsetHeight = 0 } = frame;
    const { paddingLeft, paddingTop } = getComputedStyle(frame);
    const inset = { x: frame.clientLeft + parseFloat(paddingLeft), y: frame.clientTop + parseFloat(paddingTop) };
    let linear = linearPart(frame);
    const expected = Math.abs(linear.a) * offsetWidth + Math.abs(linear.c) * offsetHeight;
    if (Math.abs(expected - rect.width) > 1 && offsetWidth && offsetHeight) {
      linear = new DOMMatrix([rect.width / offsetWidth, 0, 0, rect.height / offsetHeight, 0, 0]);
    }
    const middle = centre(rect);
    return new DOMMatrix()
      .translate(middle.x, middle.y)
      .multiply(linear)
      .translate(inset.x - offsetWidth / 2, inset.y - offsetHeight / 2);
  }

  /** @param {PageElement} frame */
  function linearPart(frame) {
    let linear = new DOMMatrix();
    for (let node = /** @type {PageElement | null} */ (frame); node; node = parentOf(node)) {
      const { transform, rotate, scale } = getComputedStyle(node);
      let own = new DOMMatrix();
      if (/^[-\d.e]+deg$/.test(rotate)) own = own.multiply(new DOMMatrix(`rotate(${rotate})`));
      if (scale !== "none") own = own.scale(...scale.split(" ").map(Number));
      if (transform !== "none") own = own.multiply(new DOMMatrix(transform));
      linear = own.multiply(linear);
    }
    const zoom = frame.currentCSSZoom ?? 1;
    return new DOMMatrix([linear.a * zoom, linear.b * zoom, linear.c * zoom, linear.d * zoom, 0, 0]);
  }

  /** @type {Reach["centre"]} */
  function centre({ x, y, width, height }) {
    return { x: x + width / 2, y: y + height / 2 };
  }

  const LABELABLE = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);

  // Fractions of a box, the middle first.
  const SPOTS = [
    [0.5, 0.5],
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
    [0.1, 0.1],
    [0.9, 0.1],
    [0.1, 0.9],
    [0.9, 0.9],
  ];

  return {
    boxes,
    bounds,
    hasBox,
    labelsOf,
    pictureOf,
    hitAt,
    candidates,
    inViewport,
    bring,
    putBack,
    frameMatrix,
    centre,
    scrollingElement,
    scrollTo,
    scrollTop,
    scrollLeft,
    scrollWidth,
    scrollHeight,
    clientWidth,
    clientHeight,
  };
})();
