/** Forms that say that they are tools: what they take, and how they are filled and sent. */

/** @param {{ prototype: object }} type @param {string} name */
const getterOf = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name)?.get;
// A control named `elements` or `getAttribute` would be found instead.
/** @param {Element} element @param {string} name */
const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
/** @param {HTMLFormElement} form @returns {FormControl[]} */
const elementsOf = (form) => [...(getterOf(HTMLFormElement, "elements")?.call(form) ?? [])];
const NO_PARAMETER = new Set(["hidden", "file", "submit", "button", "image", "reset", "fieldset", "output", "object"]);

/** The controls that a caller can set, by name. @param {HTMLFormElement} form */
const parametersOf = (form) => {
  /** @type {Map<string, FormControl[]>} */
  const groups = new Map();
  for (const control of elementsOf(form)) {
    const name = attribute(control, "name");
    if (!name || NO_PARAMETER.has(control.type) || control.readOnly || control.matches(":disabled")) continue;
    groups.set(name, [...(groups.get(name) ?? []), control]);
  }
  return groups;
};

/** @param {FormControl[]} controls */
const aboutParameter = ([control]) => {
  const own = attribute(control, "toolparamdescription");
  const around = control.type === "radio" && control.closest("fieldset[toolparamdescription]");
  const label = control.labels?.[0]?.textContent.trim().replace(/\s+/g, " ");
  return own || (around && attribute(around, "toolparamdescription")) || label || undefined;
};

/** @param {string[]} values */
const choices = (values) => ({ type: "string", enum: [...new Set(values)] });

/** @param {FormControl[]} controls */
const typeOf = (controls) => {
  const [control] = controls;
  const values = controls.map((one) => one.value);
  /** @param {string} name */
  const number = (name) => {
    const text = attribute(control, name);
    return text === null || text === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
  };
  switch (control.type) {
    case "number":
    case "range":
      return { type: "number", minimum: number("min"), maximum: number("max"), multipleOf: number("step") || undefined };
    case "checkbox":
      return controls.length > 1 ? { type: "array", items: choices(values), uniqueItems: true } : { type: "boolean" };
    case "radio":
      return choices(values);
    case "select-one":
      return choices([...control.options].map((option) => option.value));
    case "select-multiple":
      return { type: "array", items: choices([...control.options].map((option) => option.value)), uniqueItems: true };
    case "date":
      return { type: "string", format: "date" };
    default:
      return { type: "string", pattern: attribute(control, "pattern") || undefined };
  }
};

/** @param {HTMLFormElement} form */
const schemaOf = (form) => {
  /** @type {Record<string, object>} */
  const properties = {};
  const required = [];
  for (const [name, controls] of parametersOf(form)) {
    properties[name] = { ...typeOf(controls), description: aboutParameter(controls) };
    if (controls.some((control) => control.required)) required.push(name);
  }
  return parse(stringify({ type: "object", properties, required }));
};

/** @param {FormControl} control @param {string} property @param {any} value */
const put = (control, property, value) => {
  const type = Object.getPrototypeOf(control);
  Object.getOwnPropertyDescriptor(type, property)?.set?.call(control, value);
  control.dispatchEvent(new Event("input", { bubbles: true }));
  control.dispatchEvent(new Event("change", { bubbles: true }));
};

/** @param {string} name @param {FormControl[]} controls @param {any} value */
const fillParameter = (name, controls, value) => {
  const [control] = controls;
  const invalid = () => new Error(`Invalid value ${stringify(value)} for parameter ${name}`);
  const several = control.type === "select-multiple" || (control.type === "checkbox" && controls.length > 1);
  if (several !== Array.isArray(value)) throw invalid();
  const options = control.type.startsWith("select") ? [...control.options] : [];
  const known = control.type.startsWith("select") ? options : controls;
  /** @type {string[]} */
  const wanted = (several ? value : [value]).map(String);
  const isChoice = several || control.type === "radio" || control.type === "select-one";
  if (isChoice && wanted.some((text) => !known.some((one) => one.value === text))) throw invalid();
  if (several && control.type !== "checkbox") {
    for (const option of options) option.selected = wanted.includes(option.value);
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (isChoice && control.type !== "select-one") {
    for (const one of controls) if (one.checked !== wanted.includes(one.value)) put(one, "checked", wanted.includes(one.value));
  } else if (control.type === "checkbox") {
    if (typeof value !== "boolean") throw invalid();
    put(control, "checked", value);
  } else {
    put(control, "value", wanted[0]);
    if (control.value !== wanted[0] && control.type !== "textarea") throw invalid();
  }
};

/** @param {HTMLFormElement} form @param {object} input */
const fillForm = (form, input) => {
  const parameters = parametersOf(form);
  for (const [name, value] of Object.entries(input)) {
    const controls = parameters.get(name);
    if (controls) fillParameter(name, controls, value);
  }
};

/** Submissions that an agent caused, with the answers of the page. */
const submissions = new WeakMap();

const teachSubmitEvents = () => {
  if ("respondWith" in SubmitEvent.prototype) return;
  Object.defineProperties(SubmitEvent.prototype, {
    agentInvoked: {
      get() {
        return submissions.has(this);
      },
      enumerable: true,
      configurable: true,
    },
    respondWith: {
      /** @this {SubmitEvent} @param {unknown} answer */
      value(answer) {
        const submission = submissions.get(this);
        if (!submission) throw new DOMException("This form was not submitted by an agent", "InvalidStateError");
        submission.answer = Promise.resolve(answer);
      },
      writable: true,
      enumerable: true,
      configurable: true,
    },
  });
};

/**
 * Fills a form and submits it; without `toolautosubmit`, waits for the user to submit it.
 * @param {HTMLFormElement} form
 * @param {object} input
 * @param {AbortSignal} signal
 */
const runForm = (form, input, signal) => {
  teachSubmitEvents();
  fillForm(form, input);
  return new Promise((done, fail) => {
    const over = new AbortController();
    /** @param {(value: any) => void} act @param {any} value */
    const end = (act, value) => {
      over.abort();
      act(value);
    };
    const listening = { signal: over.signal, capture: true };
    // The event is seen first in the capture phase, and judged after the page has handled it.
    addEventListener(
      "submit",
      (event) => {
        if (event.target !== form) return;
        /** @type {{ answer?: Promise<unknown> }} */
        const submission = {};
        submissions.set(event, submission);
        setTimeout(() => judge(event, submission));
      },
      listening,
    );
    /** @param {Event} event @param {{ answer?: Promise<unknown> }} submission */
    const judge = (event, { answer }) => {
      if (answer) end(done, answer);
      else if (event.defaultPrevented) {
        end(fail, new Error("The site called preventDefault() on the form, and not respondWith()"));
      } else if (attribute(form, "method") === "dialog") end(done, undefined);
      // Otherwise the page is being left, and there is no answer.
    };
    form.addEventListener("reset", () => end(fail, new Error("The form was reset")), listening);
    signal.addEventListener("abort", () => end(fail, signal.reason), listening);
    const button = elementsOf(form).find((one) => one.type === "submit" && !one.matches(":disabled"));
    if (!form.hasAttribute("toolautosubmit")) return void button?.focus();
    const wrong = elementsOf(form).find((one) => one.willValidate && !one.checkValidity());
    if (wrong) {
      const name = attribute(wrong, "name") ?? "";
      return end(fail, new Error(`Form validation failed: ${name}: ${wrong.validationMessage}`));
    }
    HTMLFormElement.prototype.requestSubmit.call(form, button ?? null);
  });
};

/** Registers the document's forms, and keeps up with their changes. @param {PageContext} context */
const followForms = (context) => {
  const known = new Map();
  let waiting = false;
  const scan = () => {
    waiting = false;
    /** @type {Set<HTMLFormElement>} */
    const forms = new Set(document.querySelectorAll("form[toolname][tooldescription]"));
    for (const [form, { mark, gone }] of known) {
      if (forms.has(form) && mark === markOf(form)) continue;
      known.delete(form);
      gone.abort();
    }
    for (const form of forms) {
      if (known.has(form)) continue;
      const gone = new AbortController();
      known.set(form, { mark: markOf(form), gone });
      /** @type {RegisteredTool} */
      const tool = {
        name: attribute(form, "toolname") ?? "",
        description: attribute(form, "tooldescription") ?? "",
        inputSchema: schemaOf(form),
        execute: (input, { signal }) => runForm(form, input, AbortSignal.any([signal, gone.signal])),
      };
      // A form with an invalid name or the name of another tool is ignored, as in the browser's own implementation.
      context.registerTool(tool, { signal: gone.signal }).catch(() => {});
    }
  };
  /** @param {HTMLFormElement} form */
  const markOf = (form) => stringify([attribute(form, "toolname"), attribute(form, "tooldescription"), schemaOf(form)]);
  const later = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(scan, document.readyState === "loading" ? 0 : 20);
  };
  new MutationObserver(later).observe(document, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["toolname", "tooldescription", "toolparamdescription", "name", "type", "required", "disabled"],
  });
  addEventListener("DOMContentLoaded", scan);
  scan();
  /** Scans now, if a scan is pending. */
  return { settle: () => waiting && scan() };
};
