/**
 * The role and the name of an element, and those of its states and values that are printed.
 * Follows the ARIA mappings for HTML as far as they help a reader. Names from contents are left to the caller.
 */
(() => {
  "use strict";
  const { dom, isElement, isText, childrenOf, collapse, clean, word } = tabmux;
  const HTML = "http://www.w3.org/1999/xhtml";
  const SVG = "http://www.w3.org/2000/svg";

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));

  /** Roles of elements that a user operates. */
  const OPERABLE = words(
    "button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem textbox searchbox " +
      "combobox listbox slider spinbutton file color date",
  );
  /** Roles that are named by their contents, so that only operable elements inside need a line of their own. */
  const NAMED_BY_CONTENTS = words("button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option heading tooltip");
  /** Roles that structure a page. */
  const STRUCTURE = words(
    "banner navigation main complementary contentinfo search form region heading list listitem table grid treegrid " +
      "row dialog alertdialog alert status log article group radiogroup tablist tabpanel toolbar menu menubar tree " +
      "progressbar meter img figure tooltip feed timer marquee blockquote scrollbar",
  );
  const CELLS = words("cell gridcell columnheader rowheader");
  const QUIET = words(
    "none presentation generic rowgroup caption paragraph term definition strong emphasis code deletion insertion " +
      "subscript superscript separator time document application math note directory suggestion mark",
  );
  const KNOWN = new Set([...OPERABLE, ...STRUCTURE, ...CELLS, ...QUIET]);

  /** @type {Record<string, string | ((element: PageElement) => string)>} */
  const BY_TAG = {
    a: (element) => (dom.has(element, "href") ? "link" : ""),
    area: (element) => (dom.has(element, "href") ? "link" : ""),
    article: "article",
    aside: "complementary",
    blockquote: "blockquote",
    button: "button",
    dialog: "dialog",
    details: "group",
    dl: "list",
    fieldset: "group",
    figure: "figure",
    footer: (element) => (sectioned(element) ? "" : "contentinfo"),
    form: "form",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    header: (element) => (sectioned(element) ? "" : "banner"),
    hgroup: "",
    img: "img",
    input: (element) => inputRole(element),
    li: "listitem",
    main: "main",
    menu: "list",
    meter: "meter",
    nav: "navigation",
    ol: "list",
    output: "status",
    progress: "progressbar",
    search: "search",
    section: (element) => (dom.has(element, "aria-label") || dom.has(element, "aria-labelledby") ? "region" : ""),
    select: (element) => (element.multiple || (element.size ?? 0) > 1 ? "listbox" : "combobox"),
    summary: (element) => (isDisclosure(element) ? "button" : ""),
    table: "table",
    td: "cell",
    textarea: "textbox",
    th: (element) => (dom.attribute(element, "scope") === "row" ? "rowheader" : "columnheader"),
    tr: "row",
    ul: "list",
  };
  /** @type {Record<string, string>} */
  const INPUT_ROLES = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    file: "file",
    color: "color",
    hidden: "",
  };

  /** @param {PageElement} element */
  function inputRole(element) {
    const { type = "" } = element;
    if (type === "checkbox" && dom.has(element, "switch")) return "switch";
    const role = INPUT_ROLES[type];
    if (role !== undefined) return role;
    return dom.has(element, "list") ? "combobox" : "textbox";
  }

  /** The summary that opens and closes a details element, if there is one. @type {Tabmux["summaryOf"]} */
  function summaryOf(details) {
    for (let child = dom.firstChild(details); child; child = dom.nextSibling(child)) {
      if (isElement(child) && dom.tag(child) === "summary") return child;
    }
    return null;
  }

  /** @param {PageElement} element */
  function isDisclosure(element) {
    const parent = dom.parent(element);
    return parent instanceof HTMLDetailsElement && summaryOf(parent) === element;
  }

  const SECTIONS = words("article aside main nav section");
  /** @param {PageElement} element */
  function sectioned(element) {
    for (let above = dom.parent(element); above && isElement(above); above = dom.parent(above)) {
      if (SECTIONS.has(dom.tag(above))) return true;
    }
    return false;
  }

  /** The role, or "" if it has none that is printed. @type {Tabmux["roleOf"]} */
  function roleOf(element) {
    const explicit = dom.attribute(element, "role");
    if (explicit) {
      for (const token of explicit.toLowerCase().split(/\s+/)) {
        if (!KNOWN.has(token)) continue;
        const role = token === "image" ? "img" : token;
        /* An author's "presentation" on something operable is ignored, as browsers do. */
        if (role !== "none" && role !== "presentation" && role !== "generic") return role;
        const own = ownRole(element);
        return OPERABLE.has(own) ? own : "none";
      }
    }
    return ownRole(element);
  }
  KNOWN.add("image");

  /** @param {PageElement} element */
  function ownRole(element) {
    if (dom.namespace(element) !== HTML) {
      const tag = dom.tag(element);
      if (tag === "a") return dom.has(element, "href") || element.href?.baseVal ? "link" : "";
      return "";
    }
    const tag = dom.tag(element);
    const known = Object.hasOwn(BY_TAG, tag) ? BY_TAG[tag] : "";
    return typeof known === "function" ? known(element) : known;
  }

  /** The control of a label; any other element itself. @type {Tabmux["controlOf"]} */
  const controlOf = (element) => (dom.tag(element) === "label" && element instanceof HTMLLabelElement ? (element.control ?? element) : element);

  /**
   * The name that the author gave by other means than contents: `{ text, strong }`. A weak one (title, placeholder) counts
   * only if the contents are empty.
   * @type {Tabmux["labelOf"]}
   */
  function labelOf(element, role) {
    const own = authored(element) || nativeLabel(element, role);
    if (own) return { text: tabmux.withoutIcons(own), strong: true };
    const weak = weakLabel(element);
    const beside = !weak && WITH_TEXT_BESIDE.has(role) ? tabmux.besideLabel(element) : "";
    return { text: weak || beside, strong: beside !== "" };
  }
  const WITH_TEXT_BESIDE = words("textbox searchbox combobox listbox spinbutton slider file color date");

  /** `aria-labelledby`, then `aria-label`. @type {Tabmux["authored"]} */
  function authored(element) {
    const ids = dom.attribute(element, "aria-labelledby");
    if (ids) {
      const root = dom.rootNode(element);
      const parts = [];
      for (const id of ids.split(/\s+/).slice(0, 20)) {
        const target = id && byId(root, id);
        if (target) parts.push(textOf(target, { asLabel: true }));
      }
      const text = parts.join(" ").trim();
      if (text) return text;
    }
    const label = dom.attribute(element, "aria-label");
    return label ? collapse(label).trim() : "";
  }

  /**
   * What else the author says about an element: `aria-description`, or the text that `aria-describedby` names.
   * @type {Tabmux["descriptionOf"]}
   */
  function descriptionOf(element) {
    const said = dom.attribute(element, "aria-description");
    if (said) return collapse(said).trim();
    const ids = dom.attribute(element, "aria-describedby");
    if (!ids) return "";
    const root = dom.rootNode(element);
    const parts = ids
      .split(/\s+/)
      .slice(0, 5)
      .map((id) => (id ? byId(root, id) : null));
    return parts
      .map((part) => (part ? textOf(part, { asLabel: true }) : ""))
      .join(" ")
      .trim();
  }

  const documentById = tabmux.method(Document.prototype, "getElementById");
  const fragmentById = tabmux.method(DocumentFragment.prototype, "getElementById");
  /** @type {Tabmux["byId"]} */
  function byId(root, id) {
    if (root instanceof Document) return documentById(root, id);
    return root instanceof DocumentFragment ? fragmentById(root, id) : null;
  }

  /** @param {PageElement} element @param {string} role */
  function nativeLabel(element, role) {
    const tag = dom.tag(element);
    const { type, value = "" } = element;
    switch (tag) {
      case "input": {
        if (role === "button" && type !== "image") {
          return collapse(value).trim() || labels(element) || (type === "submit" ? "Submit" : type === "reset" ? "Reset" : "");
        }
        const alt = type === "image" ? dom.attribute(element, "alt") : "";
        return labels(element) || (alt ? collapse(alt).trim() : "");
      }
      case "select":
      case "textarea":
      case "meter":
      case "progress":
        return labels(element);
      case "img":
      case "area":
        return collapse(dom.attribute(element, "alt") ?? "").trim();
      case "fieldset":
        return childText(element, "legend");
      case "table":
        return childText(element, "caption");
      case "svg":
        return childText(element, "title");
      default:
        return "";
    }
  }

  /* `control.labels` walks the whole document for each control, so all labels are read once per walk. */
  /** @type {Map<Node, Map<PageElement, PageElement[]>>} */
  let labelIndex = new Map();
  function forgetLabels() {
    labelIndex = new Map();
  }

  /** @param {PageElement} control */
  function labelsOf(control) {
    const root = dom.rootNode(control);
    let index = labelIndex.get(root);
    if (!index) {
      index = new Map();
      const all = root instanceof Document ? dom.allInDocument : root instanceof ShadowRoot ? dom.allInRoot : null;
      for (const label of all ? all(root, "label") : []) {
        const target = label.control;
        const others = target && index.get(target);
        if (others) others.push(label);
        else if (target) index.set(target, [label]);
      }
      labelIndex.set(root, index);
    }
    return index.get(control) ?? [];
  }

  /** Text of the labels of a control, without the control's own contents. @param {PageElement} control */
  const labels = (control) =>
    labelsOf(control)
      .slice(0, 10)
      .map((label) => textOf(label, { except: control }))
      .join(" ")
      .trim();

  /** @param {PageElement} element @param {string} tag */
  function childText(element, tag) {
    for (let child = dom.firstChild(element); child; child = dom.nextSibling(child)) {
      if (isElement(child) && dom.tag(child) === tag) return textOf(child, { asLabel: true });
    }
    return "";
  }

  /** @type {Tabmux["weakLabel"]} */
  function weakLabel(element) {
    const label = dom.tag(element) === "button" ? labels(element) : "";
    if (label) return label;
    const title = dom.attribute(element, "title");
    if (title) return collapse(title).trim();
    const placeholder = dom.attribute(element, "placeholder") ?? dom.attribute(element, "aria-placeholder");
    return placeholder ? collapse(placeholder).trim() : "";
  }

  const MOST_NODES = 500;
  const MOST_TEXT = 2000;

  /**
   * The text of a subtree as a name: rendered parts in reading order, without `aria-hidden` parts, images by their
   * alternative text, blocks separated by blanks. A label may be hidden itself, but its parts may not.
   * @type {Tabmux["textOf"]}
   */
  function textOf(element, { asLabel = false, except = null } = {}) {
    let text = "";
    let nodes = 0;
    /** @type {(Node | string | undefined)[]} */
    const stack = [element];
    while (stack.length > 0 && nodes++ < MOST_NODES && text.length < MOST_TEXT) {
      const node = stack.pop();
      if (typeof node === "string") {
        text += node;
        continue;
      }
      if (!node) continue;
      if (isText(node)) {
        text += dom.data(node).slice(0, MOST_TEXT);
        continue;
      }
      if (!isElement(node) || node === except) continue;
      let apart = false;
      if (node !== element) {
        if (dom.attribute(node, "aria-hidden") === "true") continue;
        const { display, visibility } = getComputedStyle(node);
        const hidden = display === "none" || visibility !== "visible";
        if (hidden && !(asLabel && !dom.rendered(element))) continue;
        apart = !display.startsWith("inline") && display !== "contents";
        const said = dom.attribute(node, "aria-label") || alternative(node);
        if (said) {
          text += apart ? ` ${said} ` : said;
          continue;
        }
      }
      if (OPAQUE.has(dom.tag(node))) continue;
      if (apart || dom.tag(node) === "br") {
        text += " ";
        stack.push(" ");
      }
      const children = childrenOf(node);
      for (let index = children.length - 1; index >= 0; index--) stack.push(children[index]);
    }
    return collapse(text).trim();
  }

  const OPAQUE = words("script style template noscript textarea select input iframe object embed canvas video audio datalist");

  /**
   * The text of an element inside a name: the alternative text of an image, the title of an SVG.
   * @type {Tabmux["alternative"]}
   */
  function alternative(element) {
    switch (dom.tag(element)) {
      case "img":
        return dom.attribute(element, "alt") ?? "";
      case "svg":
        return childText(element, "title");
      case "input":
        return element.type === "submit" || element.type === "button" ? (element.value ?? "") : "";
      default:
        return "";
    }
  }

  /** The whole name of one element, contents included: for messages, not for walks. @type {Tabmux["nameOf"]} */
  function nameOf(element) {
    forgetLabels();
    const role = roleOf(element);
    const label = labelOf(element, role);
    if (label.text && label.strong) return label.text;
    const contents = isField(element) ? "" : tabmux.withoutIcons(textOf(element));
    return contents || label.text || (OPERABLE.has(role) ? tabmux.iconName(element) : "");
  }

  /** @type {Tabmux["isField"]} */
  const isField = (element) => element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

  /* Values that a page masks are never printed, whatever type the field has at the moment. */
  const SECRET = /(^|\s)(current-password|new-password|cc-csc)(\s|$)/i;
  /** @type {Tabmux["isSecret"]} */
  function isSecret(element) {
    if (element instanceof HTMLInputElement) {
      if (element.type === "password" || SECRET.test(dom.attribute(element, "autocomplete") ?? "")) return true;
    }
    return (getComputedStyle(element).webkitTextSecurity || "none") !== "none";
  }

  /** The value of a control as a user sees it, or null if it has none. @type {Tabmux["shownValue"]} */
  function shownValue(element, role) {
    if (element instanceof HTMLInputElement) {
      if (role === "checkbox" || role === "radio" || role === "button" || role === "switch") return null;
      if (role === "file") return [...(element.files ?? [])].map((file) => clean(file.name)).join(", ") || null;
      return element.value === "" ? null : clean(element.value);
    }
    if (element instanceof HTMLTextAreaElement) return element.value === "" ? null : clean(element.value);
    if (element instanceof HTMLSelectElement) return null;
    if (element instanceof HTMLProgressElement) return element.position < 0 ? null : `${Math.round(element.position * 100)}%`;
    if (element instanceof HTMLMeterElement) return String(element.value);
    const said = dom.attribute(element, "aria-valuetext") || dom.attribute(element, "aria-valuenow");
    return said ? collapse(said).trim() : null;
  }

  /** The states that are printed, in a fixed order; for a label those of its control. @type {Tabmux["statesOf"]} */
  function statesOf(element, role, focused = false) {
    const control = controlOf(element);
    /** @param {string} name */
    const aria = (name) => dom.attribute(control, `aria-${name}`);
    const states = [];
    if (role === "heading") {
      const level = aria("level") ?? /^h([1-6])$/.exec(dom.tag(control))?.[1];
      if (level) states.push(`level=${Number.parseInt(level, 10) || 2}`);
    }
    if (control instanceof HTMLInputElement) {
      const { type } = control;
      if (role === "textbox" && type !== "text") states.push(`type=${type}`);
      if (type === "range" || type === "number") {
        if (control.min !== "") states.push(`min=${word(control.min)}`);
        if (control.max !== "") states.push(`max=${word(control.max)}`);
      }
      if (type === "checkbox" || type === "radio") {
        if (control.indeterminate) states.push("mixed");
        else if (control.checked) states.push("checked");
      }
      if (control.readOnly) states.push("readonly");
      if (control.multiple) states.push("multiple");
    } else {
      const checked = aria("checked");
      if (checked === "true") states.push("checked");
      else if (checked === "mixed") states.push("mixed");
      if (control.readOnly === true && control instanceof HTMLTextAreaElement) states.push("readonly");
      else if (aria("readonly") === "true") states.push("readonly");
    }
    if (control instanceof HTMLSelectElement && control.multiple) states.push("multiple");
    if (control instanceof HTMLTextAreaElement || aria("multiline") === "true") states.push("multiline");
    const pressed = aria("pressed");
    if (pressed === "true") states.push("pressed");
    else if (pressed === "mixed") states.push("pressed=mixed");
    if (aria("selected") === "true") states.push("selected");
    const open = expanded(control, aria);
    if (open !== null) states.push(open ? "expanded" : "collapsed");
    if (isDisabled(control)) states.push("disabled");
    if (control.required === true || aria("required") === "true") states.push("required");
    const invalid = aria("invalid");
    if ((invalid && invalid !== "false") || (isField(control) && tabmux.inState(control, ":user-invalid"))) states.push("invalid");
    const current = aria("current");
    if (current && current !== "false") states.push(current === "true" ? "current" : `current=${word(current)}`);
    const sort = aria("sort");
    if (sort && sort !== "none") states.push(`sort=${word(sort)}`);
    const popup = aria("haspopup");
    if (popup && popup !== "false") states.push("popup");
    if (aria("busy") === "true") states.push("busy");
    if (role === "dialog" && (aria("modal") === "true" || tabmux.inState(control, ":modal"))) states.push("modal");
    if (role !== "draggable" && dom.attribute(element, "draggable") === "true") states.push("draggable");
    if (role !== "inert" && dom.has(element, "inert")) states.push("inert");
    if (focused) states.push("focused");
    return states;
  }

  /** @param {PageElement} control @param {(name: string) => string | null} aria */
  function expanded(control, aria) {
    const said = aria("expanded");
    if (said === "true" || said === "false") return said === "true";
    if (dom.tag(control) === "summary" && isDisclosure(control)) return /** @type {HTMLDetailsElement} */ (dom.parent(control)).open;
    if (control instanceof HTMLDetailsElement && !summaryOf(control)) return control.open;
    return null;
  }

  /** Whether it is disabled: by itself, by its fieldset or by ARIA. @type {Tabmux["isDisabled"]} */
  const isDisabled = (element) => tabmux.inState(element, ":disabled") || dom.attribute(element, "aria-disabled") === "true";

  Object.assign(
    tabmux,
    /** @satisfies {Partial<Tabmux>} */ ({
      roleOf,
      nameOf,
      labelOf,
      authored,
      descriptionOf,
      byId,
      weakLabel,
      alternative,
      textOf,
      shownValue,
      statesOf,
      controlOf,
      isSecret,
      isDisabled,
      isField,
      forgetLabels,
      summaryOf,
      roles: { OPERABLE, NAMED_BY_CONTENTS, STRUCTURE, CELLS },
      namespaces: { HTML, SVG },
    }),
  );
})();
