/**
 * Facts about the controls of this frame: role, name, accepted values and group. Rust makes tools from them. Nothing here
 * changes the page, and secret values are left out.
 */
(() => {
  "use strict";
  const { dom, ref, walk, lineName, descriptionOf, parentOf, holds, isElement, collapse, roleOf, Groups, hintOf } = tabmux;

  const { OPERABLE } = tabmux.roles;
  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));

  const FIELDS = words("textbox searchbox combobox listbox spinbutton slider checkbox radio switch date color file");
  const NO_CONTROLS = words("iframe video audio canvas draggable focusable scrollbar cell gridcell columnheader rowheader");
  const SEPARATE = words("list table grid navigation contentinfo banner toolbar menu tablist");
  const MOST_LINES = 20_000;
  const MOST_CONTROLS = 600;
  const MOST_OPTIONS = 60;
  const MOST_HEADINGS = 5;
  const LONGEST_NAME = 120;
  const LONGEST_ITEM = 160;
  const LONGEST_DEFAULT = 200;

  /** @type {FieldLimit[]} */
  const LIMITS = ["min", "max", "step", "pattern", "minLength", "maxLength"];

  /* The value of each field at its first survey. Values that were typed later are not defaults. */
  const defaults = new WeakMap();

  /**
   * Surveys the document. `controls` and `groups` are the facts, `frames` the frame elements, `hosts` the elements that may
   * have a closed shadow root, `tookMs` the time that it took.
   */
  tabmux.survey = () => {
    const started = performance.now();
    /** @type {SomeLine[]} */
    const lines = [];
    const walked = walk((line) => lines.push(line) < MOST_LINES);
    if (walked.whole) tabmux.follow(lines);
    const groups = new Groups();
    const operable = withoutWrappers(
      lines.filter((line) => line.element !== null).filter((line) => line.operable && !line.frame && !NO_CONTROLS.has(line.role)),
    );
    findPanels(operable, groups);

    const controls = [];
    const headings = new Headings();
    let [text, left] = ["", 0];
    const listed = new Set(operable);
    for (const line of lines) {
      headings.pass(line);
      if (line.element && listed.has(line)) {
        if (controls.length < MOST_CONTROLS) controls.push(factsOf(line, groups, headings.above(line.element), text));
        else left++;
        text = "";
      } else {
        text = line.role === "text" ? line.text : "";
      }
    }
    tellItems(lines, groups);
    tabmux.beginWatching();
    const frames = lines.flatMap((line) => (line.frame && line.element ? [ref(line.element)] : []));
    note(started);
    return {
      controls,
      left,
      groups: groups.all,
      frames,
      hosts: walked.hosts,
      title: tabmux.title().slice(0, LONGEST_NAME),
      tookMs: performance.now() - started,
    };
  };

  /** The headings that were passed so far, as far as they may belong to what follows. */
  class Headings {
    constructor() {
      /** @type {{ element: PageElement, text: string }[]} */
      this.passed = [];
    }

    /** @param {SomeLine} line */
    pass(line) {
      if (line.role !== "heading" || !line.element) return;
      this.passed.push({ element: line.element, text: lineName(line).text.slice(0, LONGEST_NAME) });
      if (this.passed.length > MOST_HEADINGS) this.passed.shift();
    }

    /** The text of the last heading that belongs to an element. @param {PageElement} element */
    above(element) {
      for (let at = this.passed.length - 1; at >= 0; at--) {
        if (!isOfSibling(this.passed[at].element, element)) return this.passed[at].text;
      }
      return "";
    }
  }

  /**
   * Whether a heading is that of a neighbour: it is inside of a box, and the element is in the next box of that kind.
   * @param {PageElement} heading
   * @param {PageElement} element
   */
  function isOfSibling(heading, element) {
    let box = element;
    for (let node = parentOf(element); node; box = node, node = parentOf(node)) {
      if (!holds(node, heading)) continue;
      let other = heading;
      for (let up = parentOf(heading); up && up !== node; up = parentOf(up)) other = up;
      return other !== heading && dom.tag(other) === dom.tag(box) && haveSameClass(other, box);
    }
    return false;
  }

  /** @param {PageElement} one @param {PageElement} other */
  function haveSameClass(one, other) {
    const classes = words(dom.attribute(one, "class") ?? "");
    return (dom.attribute(other, "class") ?? "").split(" ").some((name) => classes.has(name));
  }

  /* The cost of all surveys, without the last one, whose pause is not over yet. */
  const account = { looks: 0, busyMs: 0, begunMs: 0, lastMs: 0, spanMs: 0 };

  /** @param {number} started */
  function note(started) {
    if (account.looks === 0) account.begunMs = started;
    account.looks++;
    account.busyMs += account.lastMs;
    account.lastMs = performance.now() - started;
    account.spanMs = started - account.begunMs;
  }

  /** How often the document was surveyed, and how long that took until the last survey began. */
  tabmux.account = () => ({ looks: account.looks, busyMs: account.busyMs, spanMs: account.spanMs });

  /** Without elements that are clickable only because of the field inside them. @param {ElementLine[]} operable */
  function withoutWrappers(operable) {
    /** @param {ElementLine} line @param {ElementLine | undefined} next */
    const wraps = (line, next) => !OPERABLE.has(line.role) && next && FIELDS.has(next.role) && holds(line.element, next.element);
    return operable.filter((line, at) => !wraps(line, operable[at + 1]));
  }

  /**
   * Fields without a form often have a button next to them that acts like a submit button.
   * @param {ElementLine[]} operable
   * @param {Groups} groups
   */
  function findPanels(operable, groups) {
    operable.forEach((line, at) => {
      if (!FIELDS.has(line.role) || line.role === "checkbox" || line.role === "switch" || formOf(line.element)) return;
      const button = operable.slice(at + 1, at + 9).find((other) => isSender(other) && !formOf(other.element));
      if (!button) return;
      const panel = around(line.element, button.element);
      if (panel) groups.panels.add(panel);
    });
  }

  /** @param {ElementLine} line */
  const isSender = (line) => line.role === "button" && hasOwnName(line) && !opensPopup(line.control);
  /** Whether it has a name that is not a guess from its icon. @param {ElementLine} line */
  const hasOwnName = (line) => lineName(line).text !== "" && lineName(line) !== line.guess;

  /** The name for a tool, which must mean something to a reader. @param {ElementLine} line */
  function nameFor(line) {
    const name = lineName(line);
    const isGuess = name === line.guess && !FIELDS.has(line.role);
    return isGuess && name.text ? tabmux.iconName(line.element, false) : name.text;
  }

  /** @param {PageElement} control */
  const opensPopup = (control) => (dom.attribute(control, "aria-haspopup") ?? "false") !== "false";

  /**
   * The nearest element around both, if no list, menu or landmark is in between.
   * @param {PageElement} field
   * @param {PageElement} button
   */
  function around(field, button) {
    let node = parentOf(field);
    for (let level = 0; node && level < 4; level++, node = parentOf(node)) {
      if (SEPARATE.has(roleOf(node)) || dom.tag(node) === "body") return null;
      if (!holds(node, button)) continue;
      for (let inner = parentOf(button); inner && inner !== node; inner = parentOf(inner)) {
        if (SEPARATE.has(roleOf(inner))) return null;
      }
      return node;
    }
    return null;
  }

  /** @param {PageElement} element */
  function formOf(element) {
    for (let node = /** @type {PageElement | null} */ (element); node; node = parentOf(node)) {
      if (dom.tag(node) === "form" || roleOf(node) === "form" || roleOf(node) === "search") return node;
    }
    const control = tabmux.controlOf(element);
    return control.form instanceof HTMLFormElement ? control.form : null;
  }

  /** @param {ElementLine} line @param {Groups} groups @param {string} heading @param {string} before */
  function factsOf(line, groups, heading, before) {
    const { element, control } = line;
    const role = OPERABLE.has(line.role) ? line.role : "clickable";
    const isItem = role === "link" || role === "clickable" || role === "treeitem";
    const owner = control.form instanceof HTMLFormElement && !holds(control.form, element) ? control.form : null;
    /** @type {ControlFacts} */
    const facts = {
      n: ref(element),
      role,
      name: collapse(nameFor(line) || hostName(element))
        .trim()
        .slice(0, LONGEST_NAME),
      heading,
      group: groups.of(owner ?? (isItem ? element : (parentOf(element) ?? element))),
    };
    // What only holds other things is not named by its class.
    if (!facts.name && !line.speaks) facts.hint = hintOf(element);
    if (tabmux.isDisabled(control)) facts.disabled = true;
    const state = stateOf(control, role);
    if (state !== null) facts.on = state;
    if (FIELDS.has(role)) return { ...facts, ...fieldFacts(control, role, facts, before) };
    if (role === "link") facts.acts = acts(control);
    if (opensPopup(control)) facts.popup = true;
    if (role === "button" && (control.type === "submit" || control.type === "image") && formOf(element)) facts.submit = true;
    if (dom.has(control, "aria-pressed")) facts.pressable = true;
    if (dom.has(control, "aria-expanded") || dom.tag(control) === "summary") facts.expandable = true;
    return facts;
  }

  /** The name of the component around a field in a shadow root. @param {PageElement} element */
  function hostName(element) {
    for (let root = dom.rootNode(element); root instanceof ShadowRoot; root = dom.rootNode(dom.host(root))) {
      const host = dom.host(root);
      const said = tabmux.authored(host) || dom.attribute(host, "label");
      if (said) return said;
    }
    return "";
  }

  /** @param {PageElement} control @param {string} role */
  function stateOf(control, role) {
    /** @param {string} name */
    const aria = (name) => dom.attribute(control, `aria-${name}`);
    if (control instanceof HTMLInputElement && (control.type === "checkbox" || control.type === "radio")) return control.checked;
    for (const name of ["checked", "pressed", "selected"]) if (aria(name) !== null) return aria(name) === "true";
    if (role === "switch") return false;
    return aria("expanded") === null ? null : aria("expanded") === "true";
  }

  /** Whether a link acts like a button: it leads nowhere, or looks like one. @param {PageElement} link */
  function acts(link) {
    const href = dom.attribute(link, "href") ?? "";
    return href === "" || href === "#" || /^javascript:/i.test(href) || /(^|[\s_-])(btn|button)([\s_-]|$)/i.test(dom.attribute(link, "class") ?? "");
  }

  /** @param {PageElement} control @param {string} role @param {{ name: string }} facts @param {string} before */
  function fieldFacts(control, role, { name }, before) {
    /** @type {FieldFacts} */
    const facts = { field: kindOf(control, role) };
    if (!name && before && before.length <= 80) facts.before = before;
    const placeholder = dom.attribute(control, "placeholder");
    if (placeholder) facts.placeholder = collapse(placeholder).trim().slice(0, LONGEST_NAME);
    const description = descriptionOf(control);
    if (description && description !== name) facts.description = description.slice(0, 200);
    const key = dom.attribute(control, "name") || dom.attribute(control, "id");
    if (key) facts.key = collapse(key).slice(0, 60);
    if (control.required === true || dom.attribute(control, "aria-required") === "true") facts.required = true;
    if (control.readOnly === true || dom.attribute(control, "aria-readonly") === "true") facts.fixed = true;
    if (isSensitive(control)) facts.secret = true;
    for (const limit of LIMITS) {
      const value = control[limit];
      if (typeof value === "string" ? value !== "" : value !== undefined && value >= 0) facts[limit] = String(value).slice(0, 100);
    }
    if (facts.field === "slide") {
      for (const limit of /** @type {const} */ (["min", "max"])) {
        const value = dom.attribute(control, `aria-value${limit}`);
        if (value) facts[limit] = value.slice(0, 100);
      }
    }
    const [options, more] = optionsOf(control);
    if (options) Object.assign(facts, { options, moreOptions: more });
    if (!facts.secret) {
      const value = defaultOf(control);
      if (value !== "" && value !== null) facts.value = value;
    }
    return facts;
  }

  /** The kind of value that a field takes. @param {PageElement} control @param {string} role */
  function kindOf(control, role) {
    const tag = dom.tag(control);
    if (tag === "select") return control.multiple ? "many" : "one";
    if (tag === "textarea") return "area";
    if (role === "checkbox" || role === "switch") return "toggle";
    if (role === "radio") return "radio";
    if (tag === "input") {
      if (role === "combobox" && control.readOnly) return "pick";
      return control.type ?? "";
    }
    if (role === "combobox" || role === "listbox") return "pick";
    if (role === "slider" || role === "spinbutton") {
      if (control instanceof HTMLElement && dom.editable(control)) return "number";
      // Without a readable value, the result of moving it could not be checked.
      return dom.attribute(control, "aria-valuenow") === null ? "none" : "slide";
    }
    return role === "file" ? "file" : "area";
  }

  /** @param {PageElement} control */
  function optionsOf(control) {
    if (control instanceof HTMLSelectElement) {
      const all = Array.from(control.options);
      const told = all.slice(0, MOST_OPTIONS).map((option) => {
        const text = collapse(option.label || option.text)
          .trim()
          .slice(0, LONGEST_NAME);
        const empty = option.value === "" || option.hidden;
        return { text, ...(option.disabled && { disabled: true }), ...(empty && { empty: true }) };
      });
      return [told, all.length - told.length];
    }
    if (control.list instanceof HTMLDataListElement) return [null, 0];
    const role = roleOf(control);
    if (role !== "combobox" && role !== "listbox") return [null, 0];
    const found = popupOptions(control);
    const told = found.slice(0, MOST_OPTIONS).map((option) => ({ text: optionText(option), n: ref(option) }));
    return told.length ? [told, found.length - told.length] : [null, 0];
  }

  /** @param {PageElement} control */
  function defaultOf(control) {
    if (!defaults.has(control)) defaults.set(control, presentValue(control));
    return defaults.get(control);
  }

  /** @param {PageElement} control */
  function presentValue(control) {
    if (control instanceof HTMLSelectElement) {
      const chosen = Array.from(control.selectedOptions).filter((option) => option.value !== "" && !option.disabled);
      return chosen.slice(0, MOST_OPTIONS).map((option) =>
        collapse(option.label || option.text)
          .trim()
          .slice(0, LONGEST_NAME),
      );
    }
    if (control instanceof HTMLInputElement && (control.type === "checkbox" || control.type === "radio")) return control.checked;
    if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) {
      return control.value.length > LONGEST_DEFAULT ? null : tabmux.clean(control.value);
    }
    const number = dom.attribute(control, "aria-valuenow");
    if (number !== null) return number.slice(0, 100);
    const checked = dom.attribute(control, "aria-checked");
    return checked === null ? null : checked === "true";
  }

  /**
   * Whether a field is for a secret: masked by the page, or a code or card number, with any type of field.
   * @param {PageElement} control
   */
  function isSensitive(control) {
    if (!tabmux.isField(control)) return false;
    if (tabmux.isSecret(control) || SENSITIVE.test(dom.attribute(control, "autocomplete") ?? "")) return true;
    if (dom.tag(control) === "select" || TELLING_TYPES.has(control.type)) return false;
    return [dom.attribute(control, "name"), dom.attribute(control, "id")].some((key) => key && SENSITIVE_KEY.test(key));
  }
  const SENSITIVE = /(^|\s)(one-time-code|cc-number|cc-csc|cc-exp|cc-exp-month|cc-exp-year|current-password|new-password)(\s|$)/i;
  const SENSITIVE_KEY = /passw|passcode|(^|[^a-z])(otp|totp|mfa|2fa|pin|cvc|cvv|csc|iban|ssn)([^a-z]|$)|card.?(num|no\b)|security.?code|one.?time/i;
  const TELLING_TYPES = words("checkbox radio range color date time month week datetime-local email url search");

  /**
   * Adds the text of every item and the heading above every group.
   * @param {SomeLine[]} lines
   * @param {Groups} groups
   */
  function tellItems(lines, groups) {
    const headings = new Headings();
    for (const line of lines) {
      const said = line.element ? lineName(line).text : line.text;
      headings.pass(line);
      const node = line.element ?? (line.origin && !isElement(line.origin) ? dom.parent(line.origin) : line.origin);
      if (!node || !isElement(node)) continue;
      let at = groups.seen(node);
      for (; at >= 0; at = groups.all[at].outer) {
        const group = groups.all[at];
        group.heading ??= headings.above(groups.elements[at]);
        if (group.kind !== "item") continue;
        group.text ??= "";
        if (said && group.text.length < LONGEST_ITEM) group.text = `${group.text} ${collapse(said)}`.trim().slice(0, LONGEST_ITEM);
      }
    }
  }

  /** The options of a list that the page draws itself, as far as they exist in the document. @param {PageElement} control */
  function popupOptions(control) {
    const root = dom.rootNode(control);
    const ids = `${dom.attribute(control, "aria-controls") ?? ""} ${dom.attribute(control, "aria-owns") ?? ""}`.split(/\s+/).filter(Boolean);
    const within = [
      control,
      ...ids
        .slice(0, 4)
        .map((id) => tabmux.byId(root, id))
        .filter((one) => one !== null),
    ];
    /** @type {PageElement[]} */
    const found = [];
    /** @type {Node[]} */
    const stack = [...within].reverse();
    for (let nodes = 0; stack.length > 0 && nodes < 3000 && found.length < 500; nodes++) {
      const node = stack.pop();
      if (!node || !isElement(node)) continue;
      if (roleOf(node) === "option") {
        if (!tabmux.isDisabled(node)) found.push(node);
        continue;
      }
      stack.push(...tabmux.childrenOf(node).reverse());
    }
    return found;
  }

  /** @param {PageElement} option */
  const optionText = (option) => (tabmux.nameOf(option) || tabmux.textOf(option, { asLabel: true })).slice(0, LONGEST_NAME);

  /** The visible options of a list, as `{n, text}`. If it has none and `anywhere` is set, those in the whole document. */
  tabmux.offeredOptions = ({ n, anywhere = false }) => {
    const target = tabmux.element(n);
    if (!target) return { options: [] };
    /** @param {PageElement[]} options */
    const shows = (options) => options.filter((option) => tabmux.visible(option));
    let found = shows(popupOptions(tabmux.controlOf(target)));
    if (anywhere && found.length === 0) {
      const all = Array.from(dom.allInDocument(document, "[role=option]")).slice(0, 500);
      found = shows(all.filter((option) => !tabmux.isDisabled(option)));
    }
    return { options: found.map((option) => ({ n: ref(option), text: optionText(option) })) };
  };

  /** The value of a slider that the page draws itself. Focuses it, or waits some frames until it differs from `from`. */
  tabmux.sliderAt = async ({ n, from = null }) => {
    const target = tabmux.element(n);
    if (!target) return { at: null };
    const control = tabmux.controlOf(target);
    if (from === null) {
      control.focus({ preventScroll: true });
      if (!holds(control, tabmux.focused())) return { at: null };
    }
    const value = () => Number.parseFloat(dom.attribute(control, "aria-valuenow") ?? "");
    for (let frame = 0; frame < 20 && value() === from; frame++) await new Promise(requestAnimationFrame);
    return { at: Number.isFinite(value()) ? value() : null };
  };

  /** Whether all these elements are still in the document. */
  tabmux.stillHere = ({ elements }) => elements.every((n) => tabmux.present(n) !== null);

  /** Whether a control that can be on or off is on. */
  tabmux.isOn = ({ n }) => {
    const target = tabmux.element(n);
    const control = target && tabmux.controlOf(target);
    return { on: control ? stateOf(control, roleOf(control)) : null };
  };

  const formElements = tabmux.getter(HTMLFormElement.prototype, "elements");
  const skipsChecks = tabmux.getter(HTMLFormElement.prototype, "noValidate");

  /** Invalid fields of this control's form, which would prevent sending it, as `{name, message}`. */
  tabmux.complaints = ({ n }) => {
    const target = tabmux.element(n);
    const { form, formNoValidate } = target ? tabmux.controlOf(target) : {};
    if (!(form instanceof HTMLFormElement) || skipsChecks(form) || formNoValidate) return { told: [] };
    const told = [];
    for (const control of /** @type {Iterable<Field>} */ (formElements(form) ?? [])) {
      if (!control.willValidate || control.validity.valid) continue;
      told.push({ name: tabmux.nameOf(control).slice(0, LONGEST_NAME), message: tabmux.clean(control.validationMessage).slice(0, 200) });
    }
    return { told: told.slice(0, 5) };
  };
})();
