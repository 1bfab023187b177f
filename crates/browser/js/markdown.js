/**
 * What `read_page` reads from a frame: the rendered document as lines of Markdown, without numbers of elements. It goes
 * through the flat tree with a stack of its own, as the walk for snapshots does, and changes nothing.
 */
(() => {
  "use strict";
  const { dom, rootOf, collapse, clean, ref, isSecret, markdownText } = tabmux;
  const { START, MIDDLE, END, escapeText, atLineStart, tidy, onOneLine, plainLength, longestRun } = markdownText;
  const { addressOf, languageOf, headingLevel, isTable, isClipped, fieldText } = markdownText;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));
  const MOST_NODES = 1_000_000;
  const MOST_CHARACTERS = 2_000_000;
  const MOST_HOSTS = 500;
  /** The most characters before a line of nested lists and quotes. */
  const DEEPEST = 60;
  const property = tabmux.method(CSSStyleDeclaration.prototype, "getPropertyValue");

  const FRAMES = words("iframe frame object embed");
  const FIELDS = words("input textarea select progress meter");
  const SILENT = words("canvas video audio");
  /** Blocks that a blank line separates from others. */
  const APART = words("p h1 h2 h3 h4 h5 h6 ul ol menu dl table pre blockquote figure section article main form fieldset details hr");

  const LANDMARKS = words("main article nav dialog");

  /**
   * The lines of this frame. `marks` has one character for each line: "0" or, for a heading, "2"; one more if the line is
   * part of the main content. A link refers to `links` by number. `kind` is the type of a document that has no text.
   * @type {Tabmux["markdown"]}
   */
  function markdown({ root }) {
    const from = root == null ? dom.documentElement(document) : tabmux.element(root);
    if (root != null && !from) return { lines: [], fate: tabmux.fate(root) };
    const kind = document.contentType;
    if (root == null && !/^text\/|[/+]xml$|json$|javascript$|svg/.test(kind)) return { lines: [], kind };
    tabmux.forgetLabels();
    const writer = new Writer();
    if (from) writer.run(from);
    return writer.answer();
  }

  /** Writes Markdown. Text is collected until a block begins or ends. */
  class Writer {
    constructor() {
      /** @type {string[]} */
      this.lines = [];
      /** @type {number[]} */
      this.headings = [];
      this.characters = 0;
      this.collected = "";
      /** Whether the next block comes after a blank line. */
      this.gap = false;
      /** @type {MarkdownLink | null} */
      this.link = null;
      /** @type {string[]} */
      this.links = [];
      /** @type {{ line: number, indent: number, element: number }[]} */
      this.frames = [];
      /** @type {PageElement[]} */
      this.frameQueue = [];
      /** @type {Set<PageElement>} */
      this.hosts = new Set();
      this.parts = new tabmux.MainParts();
      this.whole = true;
    }

    /** @param {PageElement} from */
    run(from) {
      /** @type {MarkdownPlace[]} */
      const stack = [];
      const first = this.enter(from, {
        mode: "flow",
        holder: null,
        shown: true,
        table: null,
        list: null,
        next: null,
        at: 0,
        nodes: null,
        leave: null,
      });
      if (first) stack.push(first);
      let nodes = 0;
      while (stack.length > 0) {
        if (++nodes > MOST_NODES || this.characters > MOST_CHARACTERS) {
          this.whole = false;
          break;
        }
        const place = stack[stack.length - 1];
        const node = nextOf(place);
        if (!node) {
          stack.pop();
          place.leave?.();
        } else if (dom.type(node) === 3) {
          if (place.shown) this.read(dom.data(node), place);
        } else if (dom.type(node) === 1) {
          const inner = this.enter(/** @type {PageElement} */ (node), place);
          if (inner) stack.push(inner);
        }
      }
      for (let place = stack.pop(); place; place = stack.pop()) place.leave?.();
      this.flush(null);
    }

    answer() {
      const { lines, links, frames, whole, headings } = this;
      const marks = this.parts.marks(lines.length);
      for (const at of headings) marks[at] += 2;
      const hosts = [...this.hosts].map(ref);
      return { lines, marks: marks.join(""), links, frames, hosts, moreHosts: hosts.length === MOST_HOSTS, whole, title: tabmux.title() };
    }

    /* Text */

    /** @param {string} data @param {MarkdownPlace} place */
    read(data, place) {
      if (place.mode === "code") this.collected += clean(data);
      else this.collected += escapeText(collapse(data));
    }

    /** The collected text, which ends here. */
    take() {
      this.closeLink(false);
      const text = tidy(this.collected);
      this.collected = "";
      if (this.link) this.link.at = 0;
      this.parts.text(plainLength(text));
      return text;
    }

    /** Ends the collected text: it becomes lines of the block around it. @param {MarkdownHolder | null} holder */
    flush(holder) {
      const text = this.take();
      if (text === "") return;
      for (const line of text.split("\n")) this.write(atLineStart(line), holder);
    }

    /** @param {string} line @param {MarkdownHolder | null} holder */
    write(line, holder) {
      if (!holder?.item) this.space(holder);
      this.lines.push(prefixOf(holder, true) + line);
      this.characters += line.length;
    }

    /** Writes a blank line if one is due; none before the first line of a quote. @param {MarkdownHolder | null} holder */
    space(holder) {
      const due = this.gap && this.lines.length > 0 && holder?.used !== false;
      this.gap = false;
      const blank = prefixOf(holder, false).trimEnd();
      if (due && this.lines.at(-1) !== blank) this.lines.push(blank);
    }

    /* Elements */

    /** @param {PageElement} element @param {MarkdownPlace} place @returns {MarkdownPlace | null} */
    enter(element, place) {
      const tag = dom.tag(element);
      if (tabmux.unseen.has(tag) || tag === "title") return null;
      if (tag === "br") {
        this.collected += place.mode === "flow" || place.mode === "code" ? "\n" : " ";
        return null;
      }
      const style = getComputedStyle(element);
      const display = property(style, "display");
      if (display === "none") return null;
      if (display === "") {
        this.suspect(dom.parent(element));
        return null;
      }
      const inline = display === "contents" || display.startsWith("inline") || display.startsWith("ruby");
      if (!inline && isClipped(element, style)) return null;
      const shown = property(style, "visibility") === "visible";
      if (FRAMES.has(tag)) return this.frame(element, tag, shown, place);
      if (FIELDS.has(tag)) {
        if (shown) this.collected += fieldText(element, tag);
        return null;
      }
      if (tag === "img") {
        if (shown) this.picture(dom.attribute(element, "alt") ?? "");
        return null;
      }
      if (SILENT.has(tag) || (!inline && property(style, "content-visibility") === "hidden")) return null;
      if (shown && dom.has(element, "contenteditable") && isSecret(element)) {
        this.collected += "[filled]";
        return null;
      }
      /** @type {MarkdownPlace} */
      const inner = { ...place, shown, nodes: null, at: 0, next: null, leave: null };
      this.shape(element, tag, inline, inner, place);
      this.descend(element, tag, inner);
      return inner;
    }

    /** @param {PageElement} element @param {string} tag @param {MarkdownPlace} inner */
    descend(element, tag, inner) {
      const root = rootOf(element);
      const first = dom.firstChild(root ?? element);
      if (!root && (tag.includes("-") || (!first && tabmux.mayHost.has(tag)))) this.suspect(element);
      inner.next = first;
      if (root) return;
      if (tag === "slot") {
        const assigned = dom.assigned(element);
        if (assigned.length > 0) inner.nodes = assigned;
      } else if (tag === "details" && !element.open) {
        const summary = tabmux.summaryOf(element);
        inner.nodes = summary ? [summary] : [];
      }
    }

    /**
     * Prepares an element: what is written before its contents, how these are written, and what follows them.
     * @param {PageElement} element
     * @param {string} tag
     * @param {boolean} inline
     * @param {MarkdownPlace} inner
     * @param {MarkdownPlace} place
     */
    shape(element, tag, inline, inner, place) {
      const role = dom.has(element, "role") ? tabmux.roleOf(element) : "";
      if (place.mode === "code") return this.border(inner, inline, "\n");
      if (tag === "a" && dom.has(element, "href")) return this.openLink(element, inner, inline ? null : place);
      if (tag === "code" || tag === "kbd" || tag === "samp" || tag === "tt") {
        if (inline || place.mode !== "flow") return this.inlineCode(inner);
      }
      if (tag === "del" || tag === "s") return this.around(inner, "~~");
      if (place.mode !== "flow") return this.inLine(element, tag, role, inline, inner, place);
      const level = headingLevel(element, tag, role);
      if (level > 0) return this.heading(level, inner, place);
      if (tag === "pre") return this.codeBlock(element, inner, place);
      if (tag === "blockquote") return this.quote(inner, place);
      if (tag === "ul" || tag === "ol" || tag === "menu" || role === "list") return this.list(element, tag, inner, place);
      if (tag === "li" || role === "listitem") return this.item(element, inner, place);
      if (tag === "dd") return this.hold(inner, place, { up: place.holder, quote: false, marker: ": ", used: false, item: true });
      if (isTable(element, tag, role)) return this.table(inner, place);
      if (tag === "button") return this.border(inner, false, " ");
      if (tag === "svg") inner.leave = this.picture.bind(this, tabmux.alternative(element));
      if (!inline || LANDMARKS.has(tag)) this.block(tag, role, inner, place);
    }

    /** @param {string} tag @param {string} role @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    block(tag, role, inner, place) {
      this.flush(place.holder);
      const apart = APART.has(tag);
      if (apart) this.gap = true;
      this.parts.begin(tag, role, this.lines.length);
      inner.leave = () => {
        this.flush(place.holder);
        if (apart) this.gap = true;
        this.parts.end(this.lines.length);
      };
    }

    /** Contents of headings and cells stay on one line. @param {PageElement} element @param {string} tag @param {string} role @param {boolean} inline @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    inLine(element, tag, role, inline, inner, place) {
      const { table } = place;
      if (table && (tag === "tr" || role === "row")) {
        table.caption ||= onOneLine(this.take());
        table.beginRow();
        inner.leave = () => table.endRow();
      } else if (table?.row && (tag === "td" || tag === "th" || /^(grid)?cell$|header$/.test(role))) {
        this.take();
        inner.leave = () => {
          const text = onOneLine(this.take());
          this.characters += text.length;
          table.cell(element, text);
        };
      } else {
        this.border(inner, inline, " ");
      }
    }

    /** @param {MarkdownPlace} inner @param {boolean} inline @param {string} border */
    border(inner, inline, border) {
      if (inline) return;
      const add = () => {
        if (border === " " || (this.collected !== "" && !this.collected.endsWith("\n"))) this.collected += border;
      };
      add();
      inner.leave = add;
    }

    /** @param {number} level @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    heading(level, inner, place) {
      this.flush(place.holder);
      inner.mode = "line";
      inner.leave = () => {
        const text = this.take().replaceAll("\n", " ");
        this.gap = true;
        if (text === "") return;
        this.write(`${"#".repeat(level)} ${text}`, place.holder);
        this.headings.push(this.lines.length - 1);
        this.gap = true;
      };
    }

    /** @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    quote(inner, place) {
      this.flush(place.holder);
      this.gap = true;
      this.space(place.holder);
      this.hold(inner, place, { up: place.holder, quote: true, marker: "> ", used: false, item: false });
    }

    /** @param {MarkdownPlace} inner @param {MarkdownPlace} place @param {MarkdownHolder} holder */
    hold(inner, place, holder) {
      this.flush(place.holder);
      inner.holder = holder;
      inner.leave = () => {
        this.flush(holder);
        this.gap ||= holder.quote;
      };
    }

    /** @param {PageElement} element @param {string} tag @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    list(element, tag, inner, place) {
      this.block(tag, "", inner, place);
      this.gap = !place.list;
      const start = Number.parseInt(dom.attribute(element, "start") ?? "1", 10);
      inner.list = { next: tag === "ol" ? (Number.isSafeInteger(start) ? start : 1) : null, step: dom.has(element, "reversed") ? -1 : 1 };
      const { leave } = inner;
      inner.leave = () => {
        leave?.();
        this.gap = !place.list;
      };
    }

    /** @param {PageElement} element @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    item(element, inner, place) {
      const { list } = place;
      let marker = "- ";
      if (list && list.next !== null) {
        const said = Number.parseInt(dom.attribute(element, "value") ?? "", 10);
        if (Number.isSafeInteger(said)) list.next = said;
        marker = `${list.next}. `;
        list.next += list.step;
      }
      // A blank line before the first item is outside of it.
      this.flush(place.holder);
      if (!place.holder?.item) this.space(place.holder);
      this.gap = false;
      this.hold(inner, place, { up: place.holder, quote: false, marker, used: false, item: true });
    }

    /* Code */

    /** @param {MarkdownPlace} inner */
    inlineCode(inner) {
      const before = this.collected;
      this.collected = "";
      inner.mode = "code";
      inner.leave = () => {
        const code = collapse(this.collected).trim();
        this.collected = before;
        if (code === "") return;
        const fence = "`".repeat(longestRun(code) + 1);
        const pad = code.startsWith("`") || code.endsWith("`") ? " " : "";
        this.collected += fence + pad + code + pad + fence;
      };
    }

    /** @param {PageElement} element @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    codeBlock(element, inner, place) {
      this.flush(place.holder);
      this.gap = true;
      inner.mode = "code";
      inner.leave = () => {
        const code = this.collected.replace(/^\s*\n/, "").trimEnd();
        this.collected = "";
        if (code === "") return;
        const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
        this.write(fence + languageOf(element), place.holder);
        for (const line of code.split("\n")) this.write(line.trimEnd(), place.holder);
        this.write(fence, place.holder);
        this.gap = true;
      };
    }

    /* Links, pictures, frames */

    /** @param {PageElement} element @param {MarkdownPlace} inner @param {MarkdownPlace | null} around */
    openLink(element, inner, around) {
      if (around?.mode === "flow") this.flush(around.holder);
      const address = this.link ? "" : addressOf(element);
      if (address) this.link = { element, address, at: this.collected.length, done: false };
      const mine = address ? this.link : null;
      inner.leave = () => {
        if (mine && this.link === mine) {
          this.closeLink(true);
          this.link = null;
        }
        if (around?.mode === "flow") this.flush(around.holder);
        else if (around) this.collected += " ";
      };
    }

    /** Makes the text since the link began its text; `last` if there will be no more. @param {boolean} last */
    closeLink(last) {
      const { link } = this;
      if (!link || link.done) return;
      const before = this.collected.slice(0, link.at);
      const inside = this.collected.slice(link.at);
      let text = onOneLine(inside);
      if (text === "" && last) text = escapeText(collapse(tabmux.labelOf(link.element, "link").text)).trim();
      if (text === "") return;
      link.done = true;
      const [lead, tail] = [/^\s/.test(inside) ? " " : "", /\s$/.test(inside) ? " " : ""];
      this.collected = `${before}${lead}${START}${text}${MIDDLE}${this.links.push(link.address) - 1}${END}${tail}`;
    }

    /** @param {string} alternative */
    picture(alternative) {
      const text = escapeText(collapse(alternative)).trim();
      if (text) this.collected += this.link ? text : `![${text}]`;
    }

    /** @param {PageElement} element @param {string} tag @param {boolean} shown @param {MarkdownPlace} place */
    frame(element, tag, shown, place) {
      const { width, height } = dom.rect(element);
      if (!shown || width <= 1 || height <= 1) return null;
      if (tag === "object" && dom.one(element, "*")) {
        /** @type {MarkdownPlace} */
        const inner = { ...place, nodes: null, at: 0, next: dom.firstChild(element), leave: null };
        return inner;
      }
      this.frameQueue.push(element);
      if (place.mode === "flow") {
        this.flush(place.holder);
        this.placeFrames();
      }
      return null;
    }

    /** An empty line for each frame, after which its lines belong. */
    placeFrames() {
      for (const element of this.frameQueue.splice(0)) {
        this.lines.push("");
        this.frames.push({ line: this.lines.length, indent: 0, element: ref(element) });
        this.gap = true;
      }
    }

    /** Stores an element that may have a closed shadow root. @param {Node | null} node */
    suspect(node) {
      if (node && this.hosts.size < MOST_HOSTS && tabmux.mayHide(node)) this.hosts.add(/** @type {PageElement} */ (node));
    }

    /* Tables */

    /** @param {MarkdownPlace} inner @param {MarkdownPlace} place */
    table(inner, place) {
      this.flush(place.holder);
      this.parts.begin("table", "", this.lines.length);
      const table = new tabmux.MarkdownTable();
      inner.table = table;
      inner.mode = "cell";
      inner.leave = () => {
        // What is in no cell is a caption.
        const caption = table.caption || onOneLine(this.take());
        this.gap = true;
        if (caption) this.write(atLineStart(caption), place.holder);
        for (const line of table.lines()) this.write(line, place.holder);
        this.parts.end(this.lines.length);
        this.gap = true;
        this.placeFrames();
      };
    }

    /** @param {MarkdownPlace} inner @param {string} mark */
    around(inner, mark) {
      const at = this.collected.length;
      inner.leave = () => {
        const text = this.collected.slice(at).trim();
        if (at <= this.collected.length && text && !text.includes("\n")) this.collected = `${this.collected.slice(0, at)}${mark}${text}${mark}`;
      };
    }
  }

  /** @param {MarkdownPlace} place */
  function nextOf(place) {
    if (place.nodes) return place.nodes[place.at++] ?? null;
    const node = place.next;
    if (node) place.next = dom.nextSibling(node);
    return node;
  }

  /** What comes before a line inside lists and quotes. @param {MarkdownHolder | null} holder @param {boolean} use Whether an item's marker is used up. */
  function prefixOf(holder, use) {
    let prefix = "";
    for (let at = holder; at; at = at.up) {
      const fresh = use && !at.used;
      prefix = (at.quote || fresh ? at.marker : " ".repeat(at.marker.length)) + prefix;
      if (use) at.used = true;
    }
    return prefix.length > DEEPEST ? prefix.slice(-DEEPEST) : prefix;
  }

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ markdown }));
})();
