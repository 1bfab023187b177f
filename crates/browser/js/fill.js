/**
 * Filling fields: finds the field of an element, fills those that are not typed into (lists, dates, sliders), prepares
 * the others, and checks afterwards whether they have the value.
 */
(() => {
  "use strict";
  const { dom, element, describe, holds, childrenOf, parentOf, isElement, reach } = tabmux;

  /**
   * Prepares a field. `how` in the result says what remains to be done: "type" (the field has the focus and its content is
   * selected), "click" (a box to tick or untick) or "done".
   */
  tabmux.fillTarget = async ({ n, value, waitMs = 0 }) => {
    const target = element(n);
    if (!target) return failure("detached");
    const field = fieldOf(target);
    const kind = field && kindOf(field);
    if (!kind) return failure("not-fillable", describe(target));
    if (kind === "file") return failure("file");
    const blocked = await usable(field, waitMs);
    if (blocked) return blocked;
    return FILLERS[kind](field, value);
  };

  /**
   * Types a secret into a field, at once: it goes into this document, whatever has the focus by then. The field then shows
   * dots, in pictures too. Without a value it only waits until the field can be filled.
   */
  tabmux.fillSecret = async ({ n, value, waitMs = 0 }) => {
    const target = element(n);
    if (!target) return failure("detached");
    const field = fieldOf(target);
    const kind = field && kindOf(field);
    if (!kind) return failure("not-fillable", describe(target));
    if (kind !== "text" && kind !== "editor") return failure("not-text");
    const blocked = await usable(field, waitMs);
    if (blocked) return blocked;
    const ready = typeInto(field);
    if (!ready.ok) return ready;
    if (value === undefined) return { ok: true, how: "ready" };
    conceal(field);
    insert(value);
    return oneLine(contentOf(field, kind)) === oneLine(value) ? { ok: true, how: "done" } : failure("not-taken");
  };

  /** Types a secret where the focus of this document is. */
  tabmux.typeSecret = ({ value }) => {
    const field = tabmux.focused();
    const kind = field && kindOf(field);
    if (!field || (kind !== "text" && kind !== "editor")) return failure("not-text");
    const blocked = tabmux.unusable(field) ?? readOnly(field);
    if (blocked) return blocked;
    conceal(/** @type {Field} */ (field));
    insert(value);
    return { ok: true };
  };

  /** As if pasted: the page gets its input events, and no other frame can take it. @param {string} value */
  function insert(value) {
    Document.prototype.execCommand.call(document, "insertText", false, value);
  }

  /** @param {Field} field */
  function conceal(field) {
    if (field.type === "password") return;
    field.style.setProperty("-webkit-text-security", "disc", "important");
    concealed.add(field);
  }

  /** Shows the text of a field again, which is replaced now. @param {Field} field */
  function reveal(field) {
    if (concealed.delete(field)) field.style.removeProperty("-webkit-text-security");
  }

  /** Fields that show dots for a secret. @type {WeakSet<Field>} */
  const concealed = new WeakSet();

  /** Whether the field has the value now; `shown` is its value if it reads differently. */
  tabmux.filled = ({ n, value }) => {
    const target = element(n);
    const field = target && fieldOf(target);
    if (!field) return failure("detached");
    const kind = kindOf(field);
    const shown = contentOf(field, kind);
    if (kind === "toggle") return (shown === "true") === isTrue(value) ? { ok: true } : failure("not-taken", shown);
    const note = complaintOf(field);
    if (oneLine(shown) === oneLine(value)) return { ok: true, note };
    const secret = field.type === "password";
    const reads = secret ? "" : tabmux.clean(shown).slice(0, 200);
    const same = field.type === "number" ? Number(shown) === Number(value) && shown !== "" : letters(shown) === letters(value);
    if (same && letters(value)) return { ok: true, shown: reads, note };
    return failure("not-taken", reads);
  };

  /** Focuses a field, and returns whether it has the focus. */
  tabmux.focusField = ({ n }) => {
    const target = element(n);
    const field = target && fieldOf(target);
    if (!field) return false;
    field.focus({ preventScroll: true });
    return holds(field, tabmux.focused());
  };

  /** Selects an option of a closed list. */
  tabmux.choose = async ({ n, waitMs = 0 }) => {
    const option = /** @type {HTMLOptionElement | null} */ (element(n));
    const list = /** @type {HTMLSelectElement | null} */ (option && dom.closest(option, "select"));
    if (!option || !list) return failure("detached");
    const blocked = await usable(list, waitMs);
    if (blocked) return blocked;
    if (dom.matches(option, ":disabled")) return failure("disabled");
    return pick(list, [option]);
  };

  /** @type {Record<Exclude<FieldKind, "file">, (field: any, value: string) => Filled>} */
  const FILLERS = { text: typeInto, editor: typeInto, list: fillList, toggle: fillToggle, picker: fillPicker };

  /**
   * The element itself, the control of a label, or the only field inside.
   * @param {PageElement} target
   * @returns {Field | null}
   */
  function fieldOf(target) {
    const own = tabmux.controlOf(target);
    if (isFillable(own)) return own;
    /** @type {Field[]} */
    const inner = [];
    /** @param {PageElement} node @param {number} depth */
    const search = (node, depth) => {
      for (const child of childrenOf(node)) {
        if (inner.length > 1 || !isElement(child)) continue;
        if (isFillable(child) && tabmux.visible(child)) inner.push(child);
        else if (depth < 20) search(child, depth + 1);
      }
    };
    search(target, 0);
    return inner.length === 1 ? inner[0] : null;
  }

  /** @param {PageElement} node @returns {FieldKind | null} */
  function kindOf(node) {
    const tag = dom.tag(node);
    if (tag === "textarea") return "text";
    if (tag === "select") return "list";
    const type = node.type ?? "";
    if (tag === "input") return type in INPUT_KINDS ? INPUT_KINDS[type] : "text";
    if (node instanceof HTMLElement && dom.editable(node)) return "editor";
    return TOGGLES.has(dom.attribute(node, "role") ?? "") ? "toggle" : null;
  }

  /** @param {PageElement} node @returns {node is Field} */
  const isFillable = (node) => kindOf(node) !== null;

  /** Waits a little for a field that is about to be enabled or shown. @param {PageElement} field @param {number} waitMs */
  async function usable(field, waitMs) {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const blocked = tabmux.unusable(field) ?? readOnly(field);
      if (!blocked || blocked.reason === "detached" || performance.now() >= deadline) return blocked;
      await tabmux.nextFrame();
    }
  }

  /** @param {PageElement} field */
  function readOnly(field) {
    const fixed = field.readOnly === true || dom.attribute(field, "aria-readonly") === "true";
    return fixed ? failure("readonly") : null;
  }

  /** @param {Field} field @returns {Filled} */
  function typeInto(field) {
    reach.bring(field, () => reach.centre(reach.bounds(field)), null);
    const host = kindOf(field) === "editor" ? editingHost(field) : field;
    host.focus({ preventScroll: true });
    if (!holds(host, tabmux.focused())) return failure("unfocusable", describe(field));
    reveal(field);
    if (kindOf(field) === "text") field.select();
    else getSelection()?.selectAllChildren(field);
    return { ok: true, how: "type", empty: contentOf(field, kindOf(field)) === "" };
  }

  /** @param {HTMLElement} node @returns {HTMLElement} */
  function editingHost(node) {
    for (;;) {
      const parent = parentOf(node);
      if (!(parent instanceof HTMLElement) || !dom.editable(parent)) return node;
      node = parent;
    }
  }

  /** @param {HTMLSelectElement} list @param {string} value @returns {Filled} */
  function fillList(list, value) {
    const options = [...list.options];
    const found = optionOf(options, value);
    if (found) return found.disabled ? failure("option-disabled", value) : pick(list, [found]);
    const several = list.multiple ? value.split(/\s*[,\n]\s*/).map((part) => optionOf(options, part)) : [];
    if (several.length > 1 && several.every((option) => option && !option.disabled))
      return pick(
        list,
        several.filter((option) => option !== undefined),
      );
    const offered = options.slice(0, 8).map((option) => JSON.stringify(textOf(option).slice(0, 60)));
    const more = options.length > 8 ? ` and ${options.length - 8} more` : "";
    return failure("no-option", offered.join(", ") + more);
  }

  /** By text, else by value, else by text in any case. @param {HTMLOptionElement[]} options @param {string} wanted */
  function optionOf(options, wanted) {
    const text = oneLine(wanted);
    const folded = text.toLowerCase();
    return (
      options.find((option) => textOf(option) === text) ??
      options.find((option) => option.value === wanted) ??
      options.find((option) => textOf(option).toLowerCase() === folded)
    );
  }

  /** @param {HTMLOptionElement} option */
  function textOf(option) {
    return oneLine(option.label || option.text);
  }

  /** @param {HTMLSelectElement} list @param {HTMLOptionElement[]} chosen @returns {Filled} */
  function pick(list, chosen) {
    const before = [...list.selectedOptions];
    list.focus({ preventScroll: true });
    for (const option of list.options) {
      if (list.multiple || chosen.includes(option)) option.selected = chosen.includes(option);
    }
    const now = [...list.selectedOptions];
    const names = chosen.map(textOf).join(", ");
    if (!chosen.every((option) => now.includes(option))) return failure("not-taken", now.map(textOf).join(", "));
    if (before.length !== now.length || before.some((option) => !now.includes(option))) announce(list);
    return { ok: true, how: "done", shown: tabmux.clean(names).slice(0, 200) };
  }

  /** @param {Field} field @param {string} value @returns {Filled} */
  function fillToggle(field, value) {
    if (!/^(true|false)$/i.test(value)) return failure("format", '"true" or "false"');
    const on = contentOf(field, "toggle") === "true";
    if (on === isTrue(value)) return { ok: true, how: "done" };
    const radio = field.type === "radio" || dom.attribute(field, "role") === "radio";
    if (radio && on) return failure("radio");
    return { ok: true, how: "click", n: tabmux.ref(field) };
  }

  /**
   * Dates, colours and sliders: typing into them depends on the locale, so the value is set and events are fired.
   * @param {Field} field
   * @param {string} value
   * @returns {Filled}
   */
  function fillPicker(field, value) {
    const before = field.value;
    field.focus({ preventScroll: true });
    if (before === value) return { ok: true, how: "done" };
    field.value = value;
    if (!took(field, value)) {
      field.value = before;
      return failure("format", expectedBy(field));
    }
    announce(field);
    return { ok: true, how: "done", note: complaintOf(field) };
  }

  /** Whether a picker accepted a value. It replaces an invalid one by its default. @param {Field} field @param {string} value */
  function took(field, value) {
    if (field.type === "range") return value.trim() !== "" && Number(field.value) === Number(value);
    if (field.type === "color") return field.value === value.toLowerCase();
    return (field.value === "") === (value === "");
  }

  /** @param {Field} field */
  function expectedBy(field) {
    if (field.type !== "range") return FORMATS[field.type];
    const { min, max, step } = field;
    const steps = step && step !== "any" ? ` in steps of ${step}` : "";
    return `a number from ${min || 0} to ${max || 100}${steps}`;
  }

  /** @param {HTMLElement} field */
  function announce(field) {
    field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  /** @param {Field} field @param {FieldKind | null} kind */
  function contentOf(field, kind) {
    if (kind === "editor") return field.innerText.replace(/\n$/, "");
    if (kind !== "toggle") return field.value;
    const checked = dom.tag(field) === "input" ? field.checked && !field.indeterminate : dom.attribute(field, "aria-checked") === "true";
    return String(checked);
  }

  /** The message of the page's own validation. @param {Field} field */
  function complaintOf(field) {
    const message = field.willValidate && !field.validity.valid ? field.validationMessage : "";
    return message ? tabmux.clean(message).slice(0, 200) : undefined;
  }

  /** @param {string} value */
  function isTrue(value) {
    return value.toLowerCase() === "true";
  }

  /** @param {string} text */
  function oneLine(text) {
    return text.replace(/\s+/g, " ").trim();
  }

  /** Letters and digits only: masks add brackets, blanks and dashes of their own. @param {string} text */
  function letters(text) {
    return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  }

  /** @param {string} reason @param {string} [detail] @returns {Failure} */
  function failure(reason, detail = "") {
    return { ok: false, reason, detail };
  }

  /** @type {Record<string, FieldKind | null>} */
  const INPUT_KINDS = {
    button: null,
    submit: null,
    reset: null,
    image: null,
    hidden: null,
    checkbox: "toggle",
    radio: "toggle",
    file: "file",
    color: "picker",
    date: "picker",
    "datetime-local": "picker",
    month: "picker",
    range: "picker",
    time: "picker",
    week: "picker",
  };
  const TOGGLES = new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"]);
  /** @type {Record<string, string>} */
  const FORMATS = {
    color: "a colour like #33aa00",
    date: "a date like 2026-01-31",
    "datetime-local": "a date and time like 2026-01-31T09:30",
    month: "a month like 2026-01",
    time: "a time like 09:30",
    week: "a week like 2026-W05",
  };
})();
