/**
 * What tools read from a frame: the snapshot, the search, and whether some text is present. Lines look like
 * `uid=17_5 button "Save" disabled`. Text that belongs to no element's line is quoted on a line of its own.
 */
(() => {
  "use strict";
  const { dom, ref, walk, clean, collapse, quote, labelOf, weakLabel, shownValue, statesOf, isSecret, describe } = tabmux;

  const { NAMED_BY_CONTENTS } = tabmux.roles;
  const DEEPEST_INDENT = 60;
  const MOST_OPTIONS = 40;
  const LONGEST_URL = 120;
  const LONGEST_VALUE = 1000;
  const LINES_PER_LOOK_AT_THE_CLOCK = 64;

  /**
   * The lines of this frame up to `maxBytes`. Lines beyond that, beyond `depth`, or outside the view with `viewportOnly`
   * are only counted. In the result, `marks` has one character for each line: "1" if a user can act on it. `frames` lists
   * the frame elements and their lines, `hosts` the elements that may have a closed shadow root. `view` is the visible
   * part of the document, if the caller knows it better than the frame itself. What takes longer than `capMs` is given up:
   * then there are no lines, and `late` is true; the first `freeLooks` looks at the clock do not count. `took` is how
   * many milliseconds it took, `looks` how often it looked at the clock.
   * @type {Tabmux["snapshot"]}
   */
  function snapshot({ maxBytes, depth, root, viewportOnly = false, view, verbose = false, capMs = Infinity, freeLooks = 0 }) {
    const start = performance.now();
    let looks = 0;
    const isLate = () => ++looks > freeLooks && performance.now() - start > capMs;
    const from = root == null ? null : tabmux.element(root);
    if (root != null && !from) return { lines: [], fate: tabmux.fate(root) };
    const seen = viewportOnly ? (view ?? { x: 0, y: 0, width: innerWidth, height: innerHeight }) : null;
    const page = new Page(maxBytes, verbose, seen);
    const left = { lines: 0, operable: 0, frames: 0, deeper: 0, outside: 0, characters: 0 };
    /** @type {SomeLine[]} */
    const lines = [];
    const givenUp = () => ({ lines: [], late: true, looks, took: performance.now() - start });
    const walked = walk((line) => void lines.push(line), { from, verbose, isLate });
    if (!walked.whole && capMs < Infinity) return givenUp();
    if (walked.whole && !from && !verbose && !tabmux.follow(lines, isLate)) return givenUp();
    for (const [at, line] of lines.entries()) {
      if (at % LINES_PER_LOOK_AT_THE_CLOCK === LINES_PER_LOOK_AT_THE_CLOCK - 1 && isLate()) return givenUp();
      if (depth != null && line.indent >= depth) left.deeper++;
      else if (seen && !overlap(boxOf(line), seen)) left.outside++;
      else if (page.full || !page.print(line)) {
        left.lines++;
        if (line.operable) left.operable++;
        if (line.frame) left.frames++;
      }
    }
    if (!verbose) tabmux.record(page.printed);
    left.characters = page.cut;
    return { ...page.answer(), ...walked, left, title: title(), looks, took: performance.now() - start };
  }

  /**
   * Lines whose name, text or value contains `text` (in any case) and whose role is `role`. Each match comes with the line
   * around it, if only that has a uid, and the first lines inside it. `ends` has the number of lines after which each
   * match is complete.
   * @type {Tabmux["find"]}
   */
  function find({ text, role, limit, maxBytes }) {
    const wanted = text == null ? null : fold(text);
    /** @type {SomeLine[]} */
    const lines = [];
    const verbose = role != null && tabmux.roles.CELLS.has(role);
    const walked = walk((line) => void lines.push(line), { verbose });
    if (walked.whole && !verbose) tabmux.follow(lines);
    /** @param {SomeLine} line */
    const fits = (line) => role == null || line.role === role;
    /** @type {number[]} */
    let found = [];
    lines.forEach((line, at) => {
      if (fits(line) && (wanted === null || fold(wordsOf(line)).includes(wanted))) found.push(at);
    });
    if (found.length === 0 && wanted) found = spanning(lines, wanted).filter((at) => fits(lines[at]));

    const page = new Page(maxBytes, false);
    const chosen = new Set();
    const ends = [];
    const alike = repeated(found.map((at) => lines[at]));
    for (const at of found) {
      if (ends.length === limit || page.full) break;
      for (const one of around(lines, at)) {
        if (chosen.has(one.at)) continue;
        const where = one.at === at && alike.has(lines[at]) ? placeOf(lines, at) : "";
        if (!page.print({ ...lines[one.at], indent: one.indent, where })) break;
        chosen.add(one.at);
      }
      if (chosen.has(at)) ends.push(page.lines.length);
    }
    if (!verbose) tabmux.record(page.printed);
    const frames = lines.flatMap((line) => (line.frame && line.element ? [{ line: 0, indent: 0, element: ref(line.element) }] : []));
    return { ...page.answer(), ...walked, frames, found: found.length, ends };
  }

  /** Lines of elements that look like another one. @param {SomeLine[]} lines @returns {Set<SomeLine>} */
  function repeated(lines) {
    /** @type {Map<string, SomeLine[]>} */
    const looks = new Map();
    for (const line of lines) {
      if (!line.element) continue;
      const look = `${line.role} ${nameOf(line).text}`;
      const others = looks.get(look);
      if (others) others.push(line);
      else looks.set(look, [line]);
    }
    return new Set([...looks.values()].flatMap((all) => (all.length > 1 ? all : [])));
  }

  /** Where a line is: in the nearest row, item or other named thing around it, else below the nearest heading. @param {SomeLine[]} lines @param {number} at */
  function placeOf(lines, at) {
    for (let around = lines[at].container; around; around = around.container) {
      const name = PLACES.has(around.role) ? nameOf(around).text : "";
      if (name && !around.isValue) return ` in ${around.role} ${quote(short(name))}`;
    }
    for (let above = at - 1; above >= 0; above--) {
      if (lines[above].role === "heading") return ` under ${quote(short(nameOf(lines[above]).text))}`;
    }
    return "";
  }

  const PLACES = new Set("row listitem article clickable treeitem group region dialog option cell tabpanel form".split(" "));

  /** @param {string} text */
  const short = (text) => (text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text);

  const MOST_INSIDE = 8;

  /** A matching line, with the lines that a reader needs to act on it. @param {SomeLine[]} lines @param {number} at */
  function* around(lines, at) {
    const line = lines[at];
    let indent = 0;
    let { container } = line;
    while (container && !container.sent) container = container.container;
    if (!line.element && container) {
      for (let above = at - 1; above >= 0; above--) {
        if (lines[above] === container) {
          yield { at: above, indent };
          indent = 1;
          break;
        }
      }
    }
    yield { at, indent };
    for (let below = at + 1; below < lines.length && below <= at + MOST_INSIDE && lines[below].indent > line.indent; below++) {
      yield { at: below, indent: indent + lines[below].indent - line.indent };
    }
  }

  /**
   * Lines that together contain the text, such as a sentence with a link in it.
   * @param {SomeLine[]} lines
   * @param {string} wanted
   */
  function spanning(lines, wanted) {
    const starts = [];
    let all = "";
    for (const line of lines) {
      starts.push(all.length);
      const said = fold(line.isValue ? line.text : nameOf(line).text);
      if (said) all += `${said} `;
    }
    /** @type {number[]} */
    const found = [];
    let line = 0;
    for (let at = all.indexOf(wanted); at >= 0 && found.length < 1000; at = all.indexOf(wanted, at + wanted.length)) {
      while (line + 1 < starts.length && starts[line + 1] <= at) line++;
      if (found.at(-1) !== line) found.push(line);
    }
    return found;
  }

  /**
   * Which of `texts` are shown in this frame now, including names of elements, but not values of fields.
   * @type {Tabmux["hasText"]}
   */
  function hasText({ texts }) {
    const wanted = texts.map(fold);
    const present = wanted.map((text) => text === "");
    let spaced = "";
    let joined = "";
    const look = () => {
      wanted.forEach((text, index) => {
        present[index] ||= spaced.includes(text) || joined.includes(text);
      });
      return present.every(Boolean);
    };
    const longest = Math.max(0, ...wanted.map((text) => text.length));
    walk((line) => {
      const said = fold(line.isValue ? line.text : nameOf(line).text);
      if (!said) return true;
      spaced += `${said} `;
      joined += said;
      if (spaced.length < 20_000 + longest) return true;
      const done = look();
      spaced = spaced.slice(-longest - 1);
      joined = joined.slice(-longest);
      return !done;
    });
    look();
    return { present };
  }

  /** @param {string} text */
  const fold = (text) => tabmux.withoutIcons(collapse(text).trim()).toLowerCase();

  /** All text of a line that a search looks at. @param {SomeLine} line */
  function wordsOf(line) {
    if (!line.element) return line.text;
    const { control } = line;
    const parts = [nameOf(line).text, line.isValue ? line.text : ""];
    if (control instanceof HTMLSelectElement) for (const option of control.options) parts.push(option.label);
    else if (!isSecretField(line)) parts.push(shownValue(control, line.role) ?? "");
    return parts.join("\n");
  }

  /** The lines as snapshots print them, without indentation. @type {Tabmux["printed"]} */
  function printed(lines, maxBytes) {
    const page = new Page(maxBytes, false);
    for (const line of lines) if (!page.print({ ...line, indent: 0 })) break;
    return page.lines;
  }

  /** Printed lines, limited in bytes. */
  class Page {
    /** @param {number} maxBytes @param {boolean} verbose @param {Box | null} [seen] */
    constructor(maxBytes, verbose, seen = null) {
      this.room = maxBytes;
      this.seen = seen;
      this.longest = Math.max(200, Math.floor(maxBytes / 8));
      this.verbose = verbose;
      /** @type {string[]} */
      this.lines = [];
      /** @type {SomeLine[]} */
      this.printed = [];
      this.marks = "";
      /** @type {{ line: number, indent: number, element: number, view?: Box }[]} */
      this.frames = [];
      this.cut = 0;
      this.full = false;
    }

    /** Prints one line if it fits. After the first line that does not, nothing more is printed. @param {SomeLine} line */
    print(line) {
      const indent = Math.min(line.indent, DEEPEST_INDENT);
      const cut = this.cut;
      const printed = "  ".repeat(indent) + this.phrase(line) + (line.where ?? "");
      const bytes = byteLength(printed) + 1;
      if (bytes > this.room) {
        this.full = true;
        this.cut = cut;
        return false;
      }
      this.room -= bytes;
      this.lines.push(printed);
      this.printed.push(line);
      this.marks += line.operable ? "1" : "0";
      if (line.frame && line.element) this.frames.push(this.place(line));
      return true;
    }

    /** Where the lines of a frame belong, and which part of its document is visible. @param {ElementLine} line */
    place(line) {
      /** @type {typeof this.frames[number]} */
      const place = { line: this.lines.length, indent: line.indent + 1, element: ref(line.element) };
      if (this.seen) {
        const { x, y } = tabmux.boxOf(line.element);
        place.view = { ...this.seen, x: this.seen.x - x, y: this.seen.y - y };
      }
      return place;
    }

    /** @param {SomeLine} line */
    phrase(line) {
      if (!line.element) return this.quoted(line.text);
      const { element, control, role } = line;
      const name = nameOf(line);
      const parts = [`uid=${tabmux.document}_${ref(element)}`, role];
      if (name.text) parts.push(this.quoted(name.text));
      else if (line.operable) parts.push(...hint(element));
      if (line.operable && !(name.text && name !== line.guess)) parts.push(...colour(line));
      if (line.header) parts.push("header");
      if (line.sign === "clickable" && role !== "clickable") parts.push("clickable");
      parts.push(...statesOf(element, role, line.focused));
      const value = this.value(line);
      if (value) parts.push(value);
      if (role === "textbox" || role === "searchbox" || role === "combobox") {
        const placeholder = dom.attribute(control, "placeholder");
        if (placeholder && collapse(placeholder).trim() !== name.text) parts.push(`placeholder=${this.quoted(collapse(placeholder).trim())}`);
      }
      if (role === "link") parts.push(...this.url(control));
      if (line.frame) parts.push(...this.source(element));
      if (control instanceof HTMLSelectElement) parts.push(...this.options(control));
      return parts.join(" ");
    }

    /** @param {ElementLine} line */
    value(line) {
      const { control } = line;
      if (isSecretField(line)) return (line.isValue ? line.text : control.value) ? "filled" : "";
      const value = line.isValue ? line.text : shownValue(control, line.role);
      return value === null || value === "" ? "" : `value=${this.quoted(value, LONGEST_VALUE)}`;
    }

    /** @param {PageElement} link */
    url(link) {
      const href = dom.attribute(link, "href") ?? dom.attribute(link, "xlink:href");
      const url = href === null ? "" : shortUrl(href, this.verbose ? 2000 : LONGEST_URL);
      return url ? [`url=${quote(url)}`] : [];
    }

    /** @param {PageElement} frame */
    source(frame) {
      const src = dom.attribute(frame, "src") ?? dom.attribute(frame, "data");
      const url = src ? shortUrl(src, LONGEST_URL) : "";
      return url ? [`url=${quote(url)}`] : [];
    }

    /**
     * `options: "Red" selected, "Green", group "Warm": "Rust"`; of a long list only the first ones and the selected ones.
     * @param {HTMLSelectElement} select
     */
    options(select) {
      const { options } = select;
      const most = this.verbose ? 10 * MOST_OPTIONS : MOST_OPTIONS;
      const parts = [];
      let group = null;
      let left = 0;
      for (let index = 0; index < options.length; index++) {
        const option = options[index];
        if (index >= most && !option.selected) {
          left++;
          continue;
        }
        const parent = dom.parent(option);
        const within = parent instanceof HTMLOptGroupElement ? parent : null;
        const lead = within && within !== group ? `group ${this.quoted(collapse(within.label).trim(), 200)}: ` : "";
        group = within;
        const state = (option.selected ? " selected" : "") + (option.disabled || within?.disabled ? " disabled" : "");
        parts.push(lead + this.quoted(collapse(option.label).trim(), 200) + state);
      }
      if (parts.length === 0) return ["options: none"];
      return [`options: ${parts.join(", ")}${left > 0 ? `, and ${left} more` : ""}`];
    }

    /**
     * Text in quotes. Of a text that is too long, the beginning and how much is missing.
     * @param {string} text
     * @param {number} [longest]
     */
    quoted(text, longest = this.longest) {
      if (text.length <= longest) return quote(text);
      const kept = text.slice(0, longest).toWellFormed();
      this.cut += text.length - kept.length;
      return `${quote(`${kept}…`)}(+${text.length - kept.length} characters)`;
    }

    answer() {
      return { lines: this.lines, marks: this.marks, frames: this.frames };
    }
  }

  /**
   * The name of a line: its label, else its own text, else a title or a placeholder.
   * @param {SomeLine} line
   */
  function nameOf(line) {
    if (!line.element) return { text: line.text };
    const { control } = line;
    const label = (line.label ??= labelOf(control, line.role));
    if (label.text && label.strong) return label;
    if (line.text && !line.isValue) return line;
    if (label.text) return label;
    const weak = control === line.element ? "" : weakLabel(line.element);
    if (weak || !line.operable || line.isValue) return { text: weak };
    return (line.guess ??= { text: UNGUESSED.has(line.role) || speaks(line) ? "" : tabmux.iconName(line.element) });
  }

  /** Whether the lines inside say what it is, so that neither an icon nor a colour does. @param {ElementLine} line */
  const speaks = (line) => (line.speaks ??= !NAMED_BY_CONTENTS.has(line.role) && hasContents(line.element));

  /** @param {PageElement} element */
  const hasContents = (element) => dom.one(element, "a, button, input, select, textarea") !== null || /[\p{L}\p{N}]/u.test(tabmux.textOf(element));

  /** Roles of elements that no icon names. */
  const UNGUESSED = new Set(["textbox", "searchbox", "combobox", "spinbutton", "listbox", "slider", "canvas", "video", "audio", "row", "iframe"]);

  /** @param {ElementLine} line */
  function colour(line) {
    const isNone = UNGUESSED.has(line.role) || tabmux.isField(line.control) || speaks(line);
    const shown = isNone ? "" : tabmux.swatchOf(line.element);
    return shown ? [`color=${shown}`] : [];
  }

  /** @param {{ control: PageElement, isValue?: boolean }} line */
  const isSecretField = ({ control, isValue }) => (tabmux.isField(control) || isValue) && isSecret(control);

  /**
   * For an operable element without a name: the text from its style, else its id and classes. `<button.close>` is always
   * the element itself, never one inside it.
   * @param {PageElement} element
   */
  function hint(element) {
    for (const side of ["::before", "::after"]) {
      const { content } = getComputedStyle(element, side);
      const shown = /^"(.*)"/.exec(content)?.[1];
      const text = shown ? collapse(shown.replace(/\p{Co}/gu, "")).trim() : "";
      if (text) return [quote(text.slice(0, 80))];
    }
    const hints = isMarked(element) ? [describe(element)] : [];
    const inside = dom.one(element, "img");
    const picture = pictureOf(element) || (inside && pictureOf(inside));
    if (picture) hints.push(`picture=${quote(picture)}`);
    return hints;
  }

  /** @param {PageElement} element */
  const isMarked = (element) => Boolean(dom.attribute(element, "class") || dom.attribute(element, "id"));

  /** The file name of an element's picture. @param {PageElement} element */
  function pictureOf(element) {
    const source = dom.attribute(element, "src");
    if (!source || source.startsWith("data:")) return "";
    return collapse(source.split("?")[0].split("/").findLast(Boolean) ?? "")
      .slice(0, 60)
      .toWellFormed();
  }

  /**
   * A short address: relative to this site, and without the contents of `data:` and `javascript:`.
   * @param {string} href
   * @param {number} longest
   */
  function shortUrl(href, longest) {
    if (href.startsWith("#")) return cutUrl(clean(href), longest);
    let url;
    try {
      url = new URL(href, document.baseURI);
    } catch {
      return cutUrl(clean(href.trim()), longest);
    }
    if (url.protocol === "javascript:" || url.protocol === "data:" || url.protocol === "blob:") return url.protocol;
    if (url.origin !== location.origin || url.origin === "null") return cutUrl(clean(url.href), longest);
    const here = url.hash !== "" && url.pathname === location.pathname && url.search === location.search;
    return cutUrl(clean(here ? url.hash : url.pathname + url.search + url.hash), longest);
  }

  /** @param {string} url @param {number} longest */
  const cutUrl = (url, longest) => (url.length > longest ? `${url.slice(0, longest)}…` : url);

  const title = () => collapse(dom.title(document)).trim().slice(0, 300).toWellFormed();

  /** @param {SomeLine} line */
  function boxOf(line) {
    if (line.element) return tabmux.boxOf(line.element);
    const range = new Range();
    if (line.origin) range.selectNode(line.origin);
    return range.getBoundingClientRect();
  }

  /** @param {Box} one @param {Box} other */
  const overlap = (one, other) =>
    one.x < other.x + other.width && one.y < other.y + other.height && one.x + one.width > other.x && one.y + one.height > other.y;

  const encoder = new TextEncoder();
  /** @param {string} text */
  const byteLength = (text) => (/^[\x00-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length);

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ snapshot, find, hasText, lineName: nameOf, title, printed }));
})();
