/**
 * The group of an element, as a user sees it: the form, the list item, the menu, the tabs or the dialog around it.
 * Groups are numbered in the order in which they are found.
 */
(() => {
  "use strict";
  const { dom, ref, rootOf, parentOf, isElement, roleOf, authored, textOf, collapse } = tabmux;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));

  const KIND_OF_ROLE = new Map([
    ["form", "form"],
    ["search", "search"],
    ["navigation", "nav"],
    ["tablist", "tabs"],
    ["menu", "menu"],
    ["menubar", "menu"],
    ["radiogroup", "choice"],
    ["listbox", "choice"],
    ["toolbar", "toolbar"],
    ["dialog", "dialog"],
    ["alertdialog", "dialog"],
    ["list", "list"],
    ["table", "list"],
    ["grid", "list"],
    ["treegrid", "list"],
    ["tree", "list"],
    ["feed", "list"],
    ["listitem", "item"],
    ["row", "item"],
    ["treeitem", "item"],
    ["contentinfo", "footer"],
    ["banner", "header"],
  ]);
  /** Elements that are not list items just because there are many of them. */
  const NO_ITEMS = words("td th option optgroup label input button select textarea span b i em strong p br hr col script style path g");
  const FEWEST_ALIKE = 3;

  /** The groups of one survey. */
  class Groups {
    constructor() {
      /** @type {Group[]} */
      this.all = [];
      /** @type {PageElement[]} */
      this.elements = [];
      /** @type {Map<Element, number>} */
      this.known = new Map(); // element -> number of the innermost group at or above it, or -1
      /** @type {Map<Element, Map<string, number>>} */
      this.alike = new Map(); // parent -> how many children of each shape it has
      /** @type {Set<Element>} */
      this.panels = new Set(); // elements around fields without a form and their button
      /** @type {Set<Element>} */
      this.lists = new Set(); // parents of similar children
    }

    /**
     * The number of the innermost group at or above an element, created if needed; -1 if there is none.
     * @param {PageElement} element
     */
    of(element) {
      const path = [];
      let node = /** @type {PageElement | null} */ (element);
      while (node && !this.known.has(node)) {
        path.push(node);
        node = parentOf(node);
      }
      // From the outside in, because a group needs the number of the one around it.
      for (let at = path.length - 1; at >= 0; at--) {
        const above = parentOf(path[at]);
        const outer = (above && this.known.get(above)) ?? -1;
        this.known.set(path[at], this.group(path[at], outer));
      }
      return this.known.get(element) ?? -1;
    }

    /**
     * The innermost group that is already known for the element or one above it.
     * @param {PageElement} element
     */
    seen(element) {
      let node = /** @type {PageElement | null} */ (element);
      while (node && !this.known.has(node)) node = parentOf(node);
      return (node && this.known.get(node)) ?? -1;
    }

    /** @param {PageElement} node @param {number} outer */
    group(node, outer) {
      const kind = this.kindOf(node);
      if (!kind || (kind === "item" && isHeaderRow(node))) return outer;
      // The parent became a list only when its first child was checked.
      const parent = parentOf(node);
      if (kind === "item" && parent) outer = this.known.get(parent) ?? outer;
      /** @type {Group} */
      const group = { kind, n: ref(node), outer, name: this.nameOf(node, kind), hint: hintOf(node) };
      if (kind === "dialog" && (dom.attribute(node, "aria-modal") === "true" || tabmux.inState(node, ":modal"))) group.modal = true;
      // The page itself offers this form as a tool.
      if (kind === "form" && dom.has(node, "toolname")) group.offered = true;
      if (kind === "item" && this.all[outer]?.kind === "list") this.all[outer].size ??= siblings(node);
      this.all.push(group);
      this.elements.push(node);
      return this.all.length - 1;
    }

    /** @param {PageElement} node */
    kindOf(node) {
      const tag = dom.tag(node);
      if (tag === "form") return dom.attribute(node, "role") === "search" ? "search" : "form";
      if (this.panels.has(node)) return "panel";
      const kind = KIND_OF_ROLE.get(roleOf(node));
      if (kind) return kind;
      if (tag === "fieldset") return "fieldset";
      return this.isOneOfMany(node, tag) ? "item" : null;
    }

    /** @param {PageElement} node @param {string} kind */
    nameOf(node, kind) {
      if (kind === "item") return "";
      const own = authored(node);
      if (own) return own.slice(0, 120);
      const child = kind === "fieldset" ? "legend" : kind === "list" ? "caption" : "";
      for (let inner = child ? dom.firstChild(node) : null; inner; inner = dom.nextSibling(inner)) {
        if (isElement(inner) && dom.tag(inner) === child) return textOf(inner).slice(0, 120);
      }
      return "";
    }

    /**
     * Whether an element has siblings of the same shape; then they are items, and their parent is a list.
     * @param {PageElement} node
     * @param {string} tag
     */
    isOneOfMany(node, tag) {
      const parent = dom.parent(node);
      if (NO_ITEMS.has(tag) || !parent || !isElement(parent) || rootOf(parent) || dom.tag(parent) === "body") return false;
      let shapes = this.alike.get(parent);
      if (!shapes) {
        shapes = new Map();
        for (let child = dom.firstChild(parent); child; child = dom.nextSibling(child)) {
          if (isElement(child)) shapes.set(shapeOf(child), (shapes.get(shapeOf(child)) ?? 0) + 1);
        }
        this.alike.set(parent, shapes);
      }
      if ((shapes.get(shapeOf(node)) ?? 0) < FEWEST_ALIKE) return false;
      if (!this.lists.has(parent)) this.makeList(parent);
      return true;
    }

    /** @param {PageElement} parent */
    makeList(parent) {
      this.lists.add(parent);
      const outer = this.known.get(parent) ?? -1;
      const name = this.nameOf(parent, "list");
      this.all.push({ kind: "list", n: ref(parent), outer, name, hint: hintOf(parent), guessed: true });
      this.elements.push(parent);
      this.known.set(parent, this.all.length - 1);
    }
  }

  /** @param {PageElement} element */
  const shapeOf = (element) => `${dom.tag(element)}.${(dom.attribute(element, "class") ?? "").trim().split(/\s+/)[0]}`;

  /** How many children of the same tag its parent has. @param {PageElement} node */
  function siblings(node) {
    let count = 0;
    const parent = dom.parent(node);
    for (let child = parent && dom.firstChild(parent); child; child = dom.nextSibling(child)) {
      if (isElement(child) && dom.tag(child) === dom.tag(node)) count++;
    }
    return count;
  }

  /** @param {PageElement} node */
  function isHeaderRow(node) {
    const parent = dom.parent(node);
    return dom.tag(node) === "tr" && parent !== null && isElement(parent) && dom.tag(parent) === "thead";
  }

  /**
   * The class or id of an element: for elements without a readable name.
   * @type {Tabmux["hintOf"]}
   */
  function hintOf(element) {
    const id = dom.attribute(element, "id") ?? "";
    const first = (dom.attribute(element, "class") ?? "").trim().split(/\s+/)[0];
    return collapse(first || id).slice(0, 40);
  }

  tabmux.Groups = Groups;
  tabmux.hintOf = hintOf;
})();
