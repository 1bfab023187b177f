/**
 * The base of the page scripts: element numbers, DOM access that a page cannot clobber, the flat tree with its closed
 * shadow roots, boxes, and how messages name an element. Evaluated first, in an isolated world.
 */
globalThis.tabmux ??= (() => {
  "use strict";

  /*
   * `form.children` returns the form's field of that name if it has one, and documents behave alike, in every world. So
   * the getters are taken from the prototypes once, and are never read through the node itself.
   */
  /** @type {Tabmux["getter"]} */
  const getter = (prototype, name) => {
    const get = descriptor(prototype, name)?.get;
    return get ? (node) => get.call(node) : (node) => descriptor(Object.getPrototypeOf(node), name)?.get?.call(node) ?? null;
  };
  /** @type {Tabmux["method"]} */
  const method = (prototype, name) => {
    const value = descriptor(prototype, name)?.value;
    /** @type {(node: object, ...args: unknown[]) => unknown} */
    const call = value ? (node, ...args) => value.call(node, ...args) : (node, ...args) => inherited(node, name)?.call(node, ...args) ?? null;
    return /** @type {any} */ (call);
  };
  /** @param {object} node @param {PropertyKey} name */
  const inherited = (node, name) => descriptor(Object.getPrototypeOf(node), name)?.value;

  /*
   * Engines differ in which prototype has a property: one above the usual one, one below it (Lightpanda has the title
   * in HTMLDocument), or none. If it is not above, the prototypes of the node are searched; they belong to our world.
   */
  /** @param {object} prototype @param {PropertyKey} name */
  function descriptor(prototype, name) {
    for (let at = prototype; at; at = Object.getPrototypeOf(at)) {
      const own = Object.getOwnPropertyDescriptor(at, name);
      if (own) return own;
    }
    return undefined;
  }

  /** @type {Record<keyof SafeDom, any>} */
  const properties = {
    type: getter(Node.prototype, "nodeType"),
    parent: getter(Node.prototype, "parentNode"),
    firstChild: getter(Node.prototype, "firstChild"),
    nextSibling: getter(Node.prototype, "nextSibling"),
    connected: getter(Node.prototype, "isConnected"),
    textContent: getter(Node.prototype, "textContent"),
    data: getter(CharacterData.prototype, "data"),
    rootNode: method(Node.prototype, "getRootNode"),
    contains: method(Node.prototype, "contains"),
    tag: getter(Element.prototype, "localName"),
    namespace: getter(Element.prototype, "namespaceURI"),
    openRoot: getter(Element.prototype, "shadowRoot"),
    slot: getter(Element.prototype, "assignedSlot"),
    textSlot: getter(Text.prototype, "assignedSlot"),
    attribute: method(Element.prototype, "getAttribute"),
    has: method(Element.prototype, "hasAttribute"),
    matches: method(Element.prototype, "matches"),
    closest: method(Element.prototype, "closest"),
    rect: method(Element.prototype, "getBoundingClientRect"),
    rects: method(Element.prototype, "getClientRects"),
    rendered: method(Element.prototype, "checkVisibility"),
    one: method(Element.prototype, "querySelector"),
    all: method(Element.prototype, "querySelectorAll"),
    allInRoot: method(DocumentFragment.prototype, "querySelectorAll"),
    allInDocument: method(Document.prototype, "querySelectorAll"),
    host: getter(ShadowRoot.prototype, "host"),
    assigned: method(HTMLSlotElement.prototype, "assignedNodes"),
    documentElement: getter(Document.prototype, "documentElement"),
    title: getter(Document.prototype, "title"),
    activeInDocument: getter(Document.prototype, "activeElement"),
    activeInRoot: getter(ShadowRoot.prototype, "activeElement"),
    editable: getter(HTMLElement.prototype, "isContentEditable"),
  };
  /** @type {SafeDom} */
  const dom = properties;

  /* Each element gets its number when it is first shown; refs.js lets numbers follow what they stand for. */
  const numbers = new WeakMap();
  const elements = new Map();
  /* Other numbers of an element, which were in use before it got the one of the element that it replaced. */
  const aliases = new Map();
  const forget = new FinalizationRegistry((number) => {
    if (elements.get(number)?.deref()) return; // another element has this number now
    elements.delete(number);
    aliases.delete(number);
  });
  let last = 0;

  /** @type {Tabmux["ref"]} */
  function ref(element) {
    let number = numbers.get(element);
    if (number === undefined) {
      number = ++last;
      assign(element, number);
    }
    return number;
  }

  /** @type {Tabmux["numberOf"]} */
  const numberOf = (element) => numbers.get(element);

  /** @type {Tabmux["assign"]} */
  function assign(element, number) {
    numbers.set(element, number);
    if (elements.get(number)?.deref() === element) return;
    elements.set(number, new WeakRef(element));
    forget.register(element, number);
  }

  /** The element gets a new number when it is shown next. @type {Tabmux["release"]} */
  const release = (element) => void numbers.delete(element);

  /** From now on its number also means this one, as long as the element has that. @type {Tabmux["alias"]} */
  const alias = (number, of) => void aliases.set(number, of);

  /** The element that has the number now, if it is still in the document. @type {Tabmux["present"]} */
  function present(number) {
    const found = elements.get(number)?.deref();
    if (!found || !dom.connected(found)) return null;
    const own = numbers.get(found);
    return own !== undefined && (own === number || own === aliases.get(number)) ? found : null;
  }

  /**
   * Whether the element of a number is "here", "detached" (removed from this document) or "unknown".
   * @type {Tabmux["fate"]}
   */
  function fate(number) {
    if (present(number)) return "here";
    return Number.isInteger(number) && number > 0 && number <= last ? "detached" : "unknown";
  }

  /* Scripts cannot read closed roots. The debugger passes them in, with their hosts. */
  const closedRoots = new WeakMap();
  /** @type {Tabmux["closedRoot"]} */
  const closedRoot = (host) => closedRoots.get(host) ?? null;
  /** @type {Tabmux["adoptClosedRoot"]} */
  function adoptClosedRoot(host, root) {
    closedRoots.set(host, root);
  }

  /** Registers the closed roots around a node: from inside they can be read. @type {Tabmux["adoptAround"]} */
  function adoptAround(node) {
    for (let root = dom.rootNode(node); isRoot(root); root = dom.rootNode(dom.host(root))) {
      if (!dom.openRoot(dom.host(root))) adoptClosedRoot(dom.host(root), root);
    }
  }

  /** The shadow root of a host, open or closed, if we know it. @type {Tabmux["rootOf"]} */
  function rootOf(host) {
    const root = dom.openRoot(host) ?? closedRoots.get(host) ?? null;
    if (root && !seen.has(root)) {
      seen.add(root);
      roots.push(new WeakRef(root));
      if (roots.length % 1000 === 0) forgetRoots();
    }
    return root;
  }

  /* The shadow roots that a script of ours has met, so that one that is in a hurry need not look at every element. */
  const seen = new WeakSet();
  /** @type {WeakRef<ShadowRoot>[]} */
  let roots = [];

  function forgetRoots() {
    roots = roots.filter((root) => root.deref());
  }

  /** Those that are still in the document. @type {Tabmux["seenRoots"]} */
  function seenRoots() {
    forgetRoots();
    return roots.flatMap((root) => root.deref() ?? []).filter((root) => dom.connected(root));
  }

  /**
   * Whether an element is in a state such as `:modal`. In an engine that does not know the state, no element is.
   * @type {Tabmux["inState"]}
   */
  function inState(element, state) {
    if (unknownStates.has(state)) return false;
    try {
      return dom.matches(element, state);
    } catch {
      unknownStates.add(state);
      return false;
    }
  }
  const unknownStates = new Set();

  /** @type {Tabmux["isElement"]} */
  const isElement = (node) => dom.type(node) === 1;
  /** @type {Tabmux["isText"]} */
  const isText = (node) => dom.type(node) === 3;
  /** @type {(node: Node) => node is ShadowRoot} */
  const isRoot = (node) => node instanceof ShadowRoot;

  /** The slot a node is shown in, closed roots included. @type {Tabmux["slotOf"]} */
  function slotOf(node) {
    const open = isElement(node) ? dom.slot(node) : isText(node) ? dom.textSlot(node) : null;
    if (open) return open;
    const parent = dom.parent(node);
    const root = parent && isElement(parent) ? closedRoots.get(parent) : null;
    if (!root) return null;
    for (const slot of dom.allInRoot(root, "slot")) {
      if (dom.assigned(slot).includes(node)) return slot;
    }
    return null;
  }

  /**
   * Parent element in the flat tree (slot, then shadow host, then parent), or null at the top.
   * @type {Tabmux["parentOf"]}
   */
  function parentOf(node) {
    const slot = slotOf(node);
    if (slot) return slot;
    const parent = dom.parent(node);
    if (!parent) return null;
    if (isElement(parent)) return parent;
    return isRoot(parent) ? dom.host(parent) : null;
  }

  /**
   * Child nodes in the flat tree: those of the shadow root, those assigned to a slot, else the light ones.
   * @type {Tabmux["childrenOf"]}
   */
  function childrenOf(node) {
    if (isElement(node)) {
      const root = rootOf(node);
      if (root) return lightChildren(root);
      if (node instanceof HTMLSlotElement) {
        const assigned = dom.assigned(node);
        if (assigned.length > 0) return assigned;
      }
    }
    return lightChildren(node);
  }

  /** @param {Node} node */
  function lightChildren(node) {
    const children = [];
    for (let child = dom.firstChild(node); child; child = dom.nextSibling(child)) children.push(child);
    return children;
  }

  /** Whether `inner` is `outer` or lies inside it, through shadow roots and slots. @type {Tabmux["holds"]} */
  function holds(outer, inner) {
    for (let node = /** @type {PageElement | null} */ (inner); node; node = parentOf(node)) {
      if (node === outer) return true;
    }
    return false;
  }

  /** The focused element, looked up through every known shadow root. */
  function focused() {
    let active = dom.activeInDocument(document);
    for (let root = active && rootOf(active); root; root = active && rootOf(active)) {
      const inner = dom.activeInRoot(root);
      if (!inner) break;
      active = inner;
    }
    return active;
  }

  /** Rendered and not `visibility: hidden`; opacity and size do not matter. @type {Tabmux["visible"]} */
  const visible = (target) => dom.rendered(target, { visibilityProperty: true, contentVisibilityAuto: false });

  /**
   * The box in viewport coordinates of this frame; of an element without one (`display: contents`) that of its contents.
   * @type {Tabmux["boxOf"]}
   */
  function boxOf(target) {
    const box = dom.rect(target);
    if (box.width > 0 || box.height > 0) return plain(box);
    const range = new Range();
    range.selectNodeContents(target);
    return plain(range.getBoundingClientRect());
  }

  /** @param {Box} box @returns {Box} */
  const plain = ({ x, y, width, height }) => ({ x, y, width, height });

  /** `<div#consent.overlay>`: enough for a reader to recognise the element in a message. @type {Tabmux["describe"]} */
  function describe(target) {
    if (!target) return "nothing";
    if (!isElement(target)) return isText(target) ? "text" : "document";
    const id = dom.attribute(target, "id");
    const classes = (dom.attribute(target, "class") ?? "").split(/\s+/).filter(Boolean).slice(0, 2);
    const words = dom.tag(target) + (id ? `#${id}` : "") + classes.map((name) => `.${name}`).join("");
    return `<${collapse(words).slice(0, 80).toWellFormed()}>`;
  }

  /*
   * Characters that a page must not put into our lines: control characters, directional overrides, invisible characters.
   * Joiners are kept where they shape a letter or an emoji; all other invisible characters are removed.
   */
  const SUSPECT =
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\ud800-\udfff]/;
  const INVISIBLE =
    /(?<![\p{L}\p{M}\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])[\u200c\u200d]|[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

  /** Text without anything invisible or malformed; white space is kept as it is. @type {Tabmux["clean"]} */
  function clean(text) {
    return SUSPECT.test(text) ? text.toWellFormed().replace(INVISIBLE, "") : text;
  }

  /** Text as it is read: clean, with every run of white space made one blank. @type {Tabmux["collapse"]} */
  const collapse = (text) => clean(text).replace(/[\s\u2028\u2029]+/g, " ");

  /** A value of a state, shortened to one word without special characters. @type {Tabmux["word"]} */
  const word = (text) => text.replace(/[^\w.:+-]+/g, "-").slice(0, 20);

  /** Text in double quotes on one line. @type {Tabmux["quote"]} */
  const quote = (text) => `"${/["\\\n\r\t\v\f\u2028\u2029]/.test(text) ? text.replace(/["\\\n\r\t\v\f\u2028\u2029]/g, escapeOne) : text}"`;
  /** @type {Record<string, string>} */
  const ESCAPES = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  /** @param {string} character */
  const escapeOne = (character) => ESCAPES[character] ?? "\\n";

  return /** @type {Tabmux} */ ({
    /** Number of this document, set from outside; the first half of every uid. */
    document: 0,
    /** Access to properties that a page cannot clobber, wherever this engine has them. */
    getter,
    method,
    inState,
    dom,
    ref,
    numberOf,
    assign,
    release,
    alias,
    present,
    fate,
    closedRoot,
    adoptClosedRoot,
    adoptAround,
    rootOf,
    seenRoots,
    isElement,
    isText,
    slotOf,
    parentOf,
    childrenOf,
    holds,
    focused,
    visible,
    boxOf,
    describe,
    clean,
    collapse,
    word,
    quote,
  });
})();
