/**
 * How an element is printed: as a line of its own, as text of the line around it, or only by its contents; and whether a
 * user could act on it, according to its markup, its style or the debugger.
 */
(() => {
  "use strict";
  const { dom, collapse, roleOf, authored, alternative, roles } = tabmux;
  const { OPERABLE, NAMED_BY_CONTENTS, STRUCTURE, CELLS } = roles;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));

  /** Elements whose contents are not walked. */
  const SEALED = words("input textarea select canvas video audio iframe frame img progress meter embed");
  /** Roles of containers: a listener there waits for events of the contents. */
  const HOLDERS = words(
    "banner navigation main complementary contentinfo search form region list table grid treegrid dialog alertdialog " +
      "group radiogroup tablist tabpanel toolbar menu menubar tree article feed log",
  );
  /** Roles whose contents are their value, not their name. */
  const HOLD_VALUE = words("textbox searchbox combobox spinbutton");
  const MEDIA = words("canvas video audio");
  const PRESSED = words("onclick onmousedown onmouseup onpointerdown onpointerup ontouchstart ontouchend ondblclick");

  /* Elements with a listener for clicks, according to the debugger. */
  const listening = new WeakSet();

  /**
   * Stores the elements that listen for clicks. Returns for how many of them nothing else shows that.
   * @type {Tabmux["markListeners"]}
   */
  function markListeners(...nodes) {
    let news = 0;
    for (const node of nodes) {
      if (dom.type(node) !== 1) continue;
      listening.add(node);
      const { role, pressed, focusable } = readSigns(node);
      const plain = !pressed && !focusable && !((role || TAGS_WITH_ROLE.has(dom.tag(node))) && OPERABLE.has(roleOf(node)));
      if (plain && !showsPointer(node)) news++;
    }
    return news;
  }

  /** Whether the pointer changes over it and not already over what is around it. @param {PageElement} element */
  function showsPointer(element) {
    if (getComputedStyle(element).cursor !== "pointer") return false;
    const around = tabmux.parentOf(element);
    return around === null || getComputedStyle(around).cursor !== "pointer";
  }

  /**
   * Decides how an element is printed. With a `role` it is a line: `keep` if it is printed even when it is empty,
   * `operable` if a user can act on it, `value` if its text is its value, `frame` if it shows another document; `mode`
   * says how text inside is used: as the "named" element's name, as cells of a "row", or as a "flow" of blocks. Without a
   * role it may be text (`said`), a `cell` of a row, or `muted` because another line has the same text.
   * @type {Tabmux["kinds"]["classify"]}
   */
  function classify(element, tag, signs, place, pointer, editable, verbose) {
    const role = signs.role || TAGS_WITH_ROLE.has(tag) ? roleOf(element) : "";
    const operable = OPERABLE.has(role);
    const sign = operable ? role : signOf(element, tag, role, signs, place, pointer, editable);

    if (tag === "iframe" || tag === "frame" || tag === "object" || tag === "embed") return frameKind(element, tag);
    if (MEDIA.has(tag)) return { role: tag, mode: "flow", keep: true, operable: true };
    if (tag === "label") {
      const kind = labelKind(element);
      if (kind) return kind;
    }
    if (sign) {
      if (HOLD_VALUE.has(sign) && !SEALED.has(tag)) return { role: operable ? role : sign, mode: "flow", keep: true, operable: true, value: true };
      const named = NAMED_BY_CONTENTS.has(role);
      const shape = role === "" || role === "none" ? sign : role;
      const mode = named ? "named" : role === "row" && !place.laidOut && !verbose ? "row" : "flow";
      return { role: shape, mode, keep: true, operable: true, table: tableOf(role, tag), sign };
    }
    if (role === "img" || tag === "svg") return pictureKind(element, tag, role, place, verbose);
    if (place.named) {
      const said = signs.label ? authored(element) : "";
      return said ? { said } : PLAIN;
    }
    if (tag === "legend" || tag === "caption") return place.line?.element === dom.parent(element) ? MUTED : PLAIN;
    if (role === "row") {
      if (place.laidOut) return PLAIN;
      return verbose ? { role, mode: "flow", keep: false } : { role, mode: "row", keep: false };
    }
    if (CELLS.has(role)) {
      if (place.laidOut) return PLAIN;
      return verbose ? { role, mode: "flow", keep: false } : { cell: role };
    }
    if (tag === "table" && role !== "table" && role !== "grid" && role !== "treegrid") return { table: "none" };
    if (!STRUCTURE.has(role)) return signs.inert ? { role: "inert", mode: "flow", keep: false } : PLAIN;
    if ((role === "figure" || role === "region" || (role === "group" && tag !== "fieldset" && tag !== "details")) && !signs.label) return PLAIN;
    const keep = role === "progressbar" || role === "meter" || role === "scrollbar" || (signs.label && !HOLDERS.has(role));
    return { role, mode: NAMED_BY_CONTENTS.has(role) ? "named" : "flow", keep, table: tableOf(role, tag) };
  }

  /**
   * Why a user could act on an element although its role does not say so; "" if nothing shows it.
   * @param {PageElement} element
   * @param {string} tag
   * @param {string} role
   * @param {Signs} signs
   * @param {Position} place
   * @param {boolean} pointer
   * @param {boolean} editable
   */
  function signOf(element, tag, role, signs, place, pointer, editable) {
    if (editable && !place.editable) return "textbox";
    if (signs.pressed || (tag === "details" && !tabmux.summaryOf(element))) return "clickable";
    if (pointer && !place.pointer && !place.named && tag !== "label" && tag !== "html" && tag !== "body") return "clickable";
    if (listening.has(element) && !HOLDERS.has(role) && tag !== "label" && !waitsForOthers(element, tag)) return "clickable";
    if (signs.draggable) return "draggable";
    return signs.focusable && tag !== "html" && tag !== "body" ? "focusable" : "";
  }

  /**
   * @param {PageElement} element
   * @param {string} tag
   * @param {string} role
   * @param {Position} place
   * @param {boolean} verbose
   * @returns {Kind}
   */
  function pictureKind(element, tag, role, place, verbose) {
    let label = authored(element);
    // A title or a tooltip of the button says more than the title of its icon.
    if (!label && !(place.line?.operable && tag === "svg" && tabmux.hasTip(place.line.element))) label = collapse(alternative(element)).trim();
    if (place.named) return tag === "svg" ? (label ? { said: label } : PLAIN) : { said: label || " " };
    if (label) return { role: "img", mode: "flow", keep: true, takesText: false };
    if (tag !== "img") return role === "img" ? { role, mode: "named", keep: false } : PLAIN;
    return verbose && dom.attribute(element, "alt") === null ? { role, mode: "flow", keep: true } : PLAIN;
  }

  /** @type {Kind} */
  const PLAIN = {};
  const SEALED_OFF = { frame: true };
  const MUTED = { muted: true };
  const TAGS_WITH_ROLE = words(
    "a area article aside blockquote button dialog details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header img " +
      "input li main menu meter nav ol output progress search section select summary table td textarea th tr ul",
  );

  const attributeNames = tabmux.method(Element.prototype, "getAttributeNames");
  const NO_SIGNS = { role: false, label: false, hidden: false, editable: false, pressed: false, draggable: false, focusable: false, inert: false };

  /** Reads all attributes that matter in one pass. @type {Tabmux["kinds"]["readSigns"]} */
  function readSigns(element) {
    const names = attributeNames(element) ?? [];
    let signs = NO_SIGNS;
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      const sign = SIGNS.get(name) ?? (name.startsWith("on") && PRESSED.has(name) ? "pressed" : undefined);
      if (sign === undefined || !counts(sign, element, name)) continue;
      if (signs === NO_SIGNS) signs = { ...NO_SIGNS };
      signs[sign] = true;
    }
    return signs;
  }

  /** @type {Map<string, keyof Signs>} */
  const SIGNS = new Map([
    ["role", "role"],
    ["aria-label", "label"],
    ["aria-labelledby", "label"],
    ["aria-hidden", "hidden"],
    ["contenteditable", "editable"],
    ["draggable", "draggable"],
    ["tabindex", "focusable"],
    ["inert", "inert"],
  ]);

  /** @param {keyof Signs} sign @param {PageElement} element @param {string} name */
  function counts(sign, element, name) {
    switch (sign) {
      case "label":
        return /\S/.test(dom.attribute(element, name) ?? "");
      case "hidden":
      case "draggable":
        return dom.attribute(element, name) === "true";
      case "focusable":
        return Number.parseInt(dom.attribute(element, name) ?? "", 10) >= 0;
      default:
        return true;
    }
  }

  /** @param {PageElement} element @param {string} tag @returns {Kind} */
  function frameKind(element, tag) {
    if (tag === "object" && hasFallback(element)) return PLAIN;
    const { width, height } = dom.rect(element);
    return width > 1 && height > 1 ? { role: "iframe", mode: "flow", keep: true, frame: true } : SEALED_OFF;
  }

  /** @param {PageElement} element */
  function hasFallback(element) {
    for (let child = dom.firstChild(element); child; child = dom.nextSibling(child)) {
      if (tabmux.isElement(child) && dom.rendered(child)) return true;
    }
    return false;
  }

  /**
   * A label is left out if its control is rendered, because the control has its text; otherwise the label is what users click.
   * @param {PageElement} element
   * @returns {Kind | null}
   */
  function labelKind(element) {
    const { control } = element;
    if (!control) return null;
    if (dom.rendered(control, { visibilityProperty: true })) {
      return dom.has(control, "aria-label") || dom.has(control, "aria-labelledby") ? null : MUTED;
    }
    const role = roleOf(control);
    return role ? { role, mode: "named", keep: true, operable: true, takesText: true } : null;
  }

  /**
   * `laidOut` of the contents: a table that is only used for layout has no rows and cells.
   * @param {string} role
   * @param {string} tag
   */
  function tableOf(role, tag) {
    if (role === "table" || role === "grid" || role === "treegrid") return "data";
    return tag === "table" ? "none" : undefined;
  }

  /**
   * Whether a listener waits for events of the contents: its element has children and fills much of the view.
   * @param {PageElement} element
   * @param {string} tag
   */
  function waitsForOthers(element, tag) {
    if (tag === "html" || tag === "body") return true;
    if (!element.firstElementChild) return false;
    const { width, height } = dom.rect(element);
    return width * height >= 0.5 * innerWidth * innerHeight;
  }

  tabmux.kinds = { PLAIN, SEALED, readSigns, classify };
  tabmux.markListeners = markListeners;
})();
