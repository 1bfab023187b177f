/**
 * Parts of `read_page`: text of pages made safe for Markdown, the text of fields, and which lines are the main content.
 */
(() => {
  "use strict";
  const { dom, collapse, clean, isSecret, shownValue, labelOf, authored, roleOf } = tabmux;

  /*
   * A link is `START text MIDDLE number END` until all frames are put together. Pages cannot forge one, because their
   * text is cleaned of control characters.
   */
  const [START, MIDDLE, END] = ["\u0001", "\u0002", "\u0003"];
  const LONGEST_ADDRESS = 2_000;
  const LONGEST_VALUE = 1_000;
  const MOST_COLUMNS = 50;
  const property = tabmux.method(CSSStyleDeclaration.prototype, "getPropertyValue");

  /** Text whose characters mean nothing in Markdown, except at the start of a line. @param {string} text */
  const escapeText = (text) => (/[\\`[\]<~]/.test(text) ? text.replace(/[\\`[\]]|<(?=[a-z/!?])|~(?=~)/gi, "\\$&") : text);

  /** A line that does not begin like a heading, a quote, an item, a table or a rule. @param {string} line */
  const atLineStart = (line) =>
    line.replace(/^(\d{1,9})(?=[.)](\s|$))/, "$1\\").replace(/^(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|[=*_]{2,}|:?-{2,}|\|)/, "\\$1");

  /** Lines without superfluous white space. @param {string} text */
  const tidy = (text) =>
    text
      .split("\n")
      .map((line) => line.replace(/\s+/g, " ").trim())
      .filter((line) => line !== "")
      .join("\n");

  /** @param {string} text */
  const onOneLine = (text) => text.replace(/\s+/g, " ").trim();

  /** The length of a text without its links. @param {string} text */
  const plainLength = (text) => text.replace(/\u0001[^\u0002]*\u0002\d+\u0003/g, "").length;

  /** The longest run of backticks. @param {string} code */
  const longestRun = (code) => (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);

  /** The whole address of a link; "" if it leads nowhere or to another place of the same page. @param {PageElement} link */
  function addressOf(link) {
    const href = dom.attribute(link, "href") ?? "";
    if (href.trim() === "" || href.startsWith("#")) return "";
    try {
      const url = new URL(href, document.baseURI);
      if (url.protocol === "javascript:" || url.protocol === "blob:") return "";
      if (url.protocol === "data:") return "data:";
      return url.href.length > LONGEST_ADDRESS ? "" : clean(url.href);
    } catch {
      return "";
    }
  }

  /** The language of a code block, from its class or that of the code in it. @param {PageElement} pre */
  function languageOf(pre) {
    const inside = dom.one(pre, "code[class]");
    const classes = `${dom.attribute(pre, "class") ?? ""} ${(inside && dom.attribute(inside, "class")) ?? ""}`;
    return /(?:^|\s)(?:lang|language)-([\w+#-]{1,20})/.exec(classes)?.[1] ?? "";
  }

  /** 1 to 6, or 0 if it is no heading. @param {PageElement} element @param {string} tag @param {string} role */
  function headingLevel(element, tag, role) {
    if (role === "heading") return Math.min(Math.max(Number.parseInt(dom.attribute(element, "aria-level") ?? "2", 10) || 2, 1), 6);
    return role === "" && /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0;
  }

  /** Whether it is a table of data, and none that only arranges things. @param {PageElement} element @param {string} tag @param {string} role */
  function isTable(element, tag, role) {
    if (role === "table" || role === "grid" || role === "treegrid") return true;
    return tag === "table" && role === "" && !dom.one(element, "table, h1, h2, h3, pre, iframe, form, article, section");
  }

  /** Whether only screen readers get it: one pixel, or beside the page. @param {PageElement} element @param {CSSStyleDeclaration} style */
  function isClipped(element, style) {
    const position = property(style, "position");
    if (position !== "absolute" && position !== "fixed") return false;
    const { width, height, right } = dom.rect(element);
    if (right + scrollX < 0) return true;
    return width <= 1 && height <= 1 && property(style, "overflow-x") !== "visible";
  }

  /** A field with its value, and its name unless that is written beside it. @param {PageElement} field @param {string} tag */
  function fieldText(field, tag) {
    const role = roleOf(field);
    if (role === "") return "";
    if (role === "button") return ` ${escapeText(labelOf(field, role).text)} `;
    const name = escapeText(hiddenName(field, role));
    if (role === "checkbox" || role === "radio" || role === "switch") return ` [${field.checked ? "x" : " "}] ${name} `;
    const value = isSecret(field) ? (field.value ? "filled" : "") : valueText(field, tag, role);
    if (!name) return ` [${value || "____"}] `;
    return ` [${name}: ${value || "____"}] `;
  }

  /** @param {PageElement} field @param {string} tag @param {string} role */
  function valueText(field, tag, role) {
    const value = tag === "select" ? chosen(field) : shownValue(field, role);
    return escapeText(
      collapse(value ?? "")
        .trim()
        .slice(0, LONGEST_VALUE)
        .toWellFormed(),
    );
  }

  /** @param {PageElement} select */
  function chosen(select) {
    if (!(select instanceof HTMLSelectElement)) return "";
    return [...select.selectedOptions]
      .slice(0, 20)
      .map((option) => option.label)
      .join(", ");
  }

  /** The name of a field if no text on the page shows it. @param {PageElement} field @param {string} role */
  function hiddenName(field, role) {
    if (dom.has(field, "aria-labelledby")) return "";
    const label = labelOf(field, role);
    return authored(field) || !label.strong ? label.text : "";
  }

  /** The cells of a table, with those that reach over several columns or rows. */
  class MarkdownTable {
    constructor() {
      /** @type {string[][]} */
      this.rows = [];
      /** @type {string[] | null} */
      this.row = null;
      /** @type {number[]} */
      this.spans = []; // for each column, into how many more rows a cell reaches
      this.caption = "";
    }

    beginRow() {
      this.row = [];
    }

    /** @param {PageElement} cell @param {string} text */
    cell(cell, text) {
      const { row, spans } = this;
      if (!row) return;
      this.skip(row);
      /** @param {string} name */
      const span = (name) => Math.min(Math.max(Number.parseInt(dom.attribute(cell, name) ?? "", 10) || 1, 1), MOST_COLUMNS);
      const rows = span("rowspan");
      for (let column = span("colspan"); column > 0 && row.length < MOST_COLUMNS; column--) {
        spans[row.length] = rows - 1;
        row.push(text.replaceAll("|", "\\|"));
        text = "";
      }
    }

    /** A cell of a row above may reach into this one. @param {string[]} row */
    skip(row) {
      while (row.length < MOST_COLUMNS && this.spans[row.length] > 0) {
        this.spans[row.length]--;
        row.push("");
      }
    }

    endRow() {
      const { row } = this;
      this.row = null;
      if (!row) return;
      this.skip(row);
      if (row.some((cell) => cell !== "")) this.rows.push(row);
    }

    /** @returns {string[]} */
    lines() {
      const columns = this.rows.reduce((most, row) => Math.max(most, row.length), 0);
      if (columns <= 1) return this.rows.map(([cell]) => atLineStart(cell));
      const lines = this.rows.map((row) => `| ${[...row, ...Array(columns - row.length).fill("")].join(" | ")} |`);
      return [...lines.slice(0, 1), `|${"---|".repeat(columns)}`, ...lines.slice(1)];
    }
  }

  /* Main content */

  const BESIDE = new Set(["nav", "aside", "footer", "header", "navigation", "complementary", "contentinfo", "banner", "search"]);
  /** Shorter texts are labels and captions. */
  const SHORTEST_TEXT = 25;

  /**
   * Finds the main content by markup, `main` or else the articles, or by the block with most text that is no link. Lines
   * of open dialogs are part of it, navigation is not.
   */
  class MainParts {
    constructor() {
      /** @type {MainPart[]} */
      this.open = [];
      /** @type {Record<string, MainPart[]>} */
      this.found = { main: [], article: [], dialog: [], navigation: [] };
      /** @type {MainPart | null} */
      this.best = null;
    }

    /** @param {string} tag @param {string} role @param {number} line */
    begin(tag, role, line) {
      const around = this.open.at(-1);
      const beside = around?.beside === true || BESIDE.has(role || tag);
      this.open.push({ kind: kindOf(role || tag), start: line, end: line, score: 0, beside });
    }

    /** Text of the innermost open block; its parents are those that hold many such texts. @param {number} length */
    text(length) {
      if (length < SHORTEST_TEXT) return;
      for (const [up, share] of SHARES) {
        const part = this.open.at(-1 - up);
        if (part) part.score += length * share;
      }
    }

    /** @param {number} line */
    end(line) {
      const part = this.open.pop();
      if (!part) return;
      part.end = line;
      if (part.kind) this.found[part.kind].push(part);
      if (!part.beside && part.score > (this.best?.score ?? 0)) this.best = part;
    }

    /** For each line 1 if it is part of the main content, else 0. @param {number} lines @returns {number[]} */
    marks(lines) {
      const { main, article, dialog, navigation } = this.found;
      const articles = article.filter((part) => !part.beside);
      const chosen = main.length > 0 ? main : articles.length > 0 ? articles : this.best ? [this.best] : [];
      const marks = Array(lines).fill(0);
      for (const { start, end } of [...chosen, ...dialog]) marks.fill(1, start, end);
      for (const { start, end } of navigation) marks.fill(0, start, end);
      return marks;
    }
  }
  const SHARES = [
    [0, 0.5],
    [1, 1],
    [2, 0.5],
  ];

  /** @param {string} what */
  function kindOf(what) {
    if (what === "nav") return "navigation";
    if (what === "alertdialog") return "dialog";
    return ["main", "article", "dialog", "navigation"].includes(what) ? what : "";
  }

  tabmux.MainParts = MainParts;
  tabmux.MarkdownTable = MarkdownTable;
  tabmux.markdownText = {
    START,
    MIDDLE,
    END,
    escapeText,
    atLineStart,
    tidy,
    onOneLine,
    plainLength,
    longestRun,
    addressOf,
    languageOf,
    headingLevel,
    isTable,
    isClipped,
    fieldText,
  };
})();
