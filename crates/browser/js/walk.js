/**
 * One pass over the flat tree of this frame's document, in reading order, that turns elements and text into lines.
 * It keeps its own stack, so a deep or wide page cannot overflow it, and it never changes the page.
 */
(() => {
  "use strict";
  const { dom, rootOf, collapse, clean, labelOf, controlOf, kinds } = tabmux;
  const { PLAIN, SEALED, readSigns, classify } = kinds;
  const { CELLS } = tabmux.roles;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));
  const UNSEEN = words(
    "script style template noscript head meta link title base param source track datalist colgroup col desc defs " +
      "symbol clipPath mask pattern linearGradient radialGradient filter marker metadata rp",
  );
  /** Elements that may have a shadow root, besides custom elements. */
  const HOSTS = words("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span");
  /** Roles whose line takes the first text found inside; for others, the contents are lines of their own. */
  const SPEAKERS = words(
    "button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option heading tooltip treeitem row " +
      "listitem cell gridcell columnheader rowheader clickable focusable draggable alert status timer blockquote img textbox " +
      "searchbox combobox spinbutton",
  );
  const LIGATURES = words("i span mat-icon");
  const MOST_NODES = 1_000_000;
  const NODES_PER_LOOK_AT_THE_CLOCK = 256;
  const MOST_HOSTS = 500;
  const property = tabmux.method(CSSStyleDeclaration.prototype, "getPropertyValue");

  /* Sizes of possible hosts when the debugger was last asked about them. */
  const asked = new WeakMap();

  /**
   * The elements of these numbers, for the debugger to inspect. It need not do so again while they keep their size.
   * @type {Tabmux["elementsOf"]}
   */
  function elementsOf(numbers) {
    const elements = numbers.map((number) => tabmux.present(number));
    for (const element of elements) if (element) asked.set(element, sizeOf(element));
    return elements;
  }

  /** @param {PageElement} element */
  function sizeOf(element) {
    const { width, height } = dom.rect(element);
    return `${width}x${height}`;
  }

  /** Registers shadow roots that the debugger found, as host, root, host, root, … @type {Tabmux["adoptClosedRoots"]} */
  function adoptClosedRoots(...pairs) {
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const [host, root] = /** @type {[Element, ShadowRoot]} */ (pairs.slice(index, index + 2));
      tabmux.adoptClosedRoot(host, root);
    }
    return pairs.length / 2;
  }

  /**
   * Walks and calls `emit(line)` for every line in reading order until it returns false. A line is
   * `{ element, role, text, indent, operable, … }`; a line of text only has no element. The walk is given up when
   * `isLate` says so.
   * Returns `{ hosts, moreHosts, whole }`: elements that may have a closed root, whether there are more of them, and
   * whether the walk was complete.
   * @type {Tabmux["walk"]}
   */
  function walk(emit, { from = null, verbose = false, isLate = () => false } = {}) {
    tabmux.forgetLabels();
    return new Walk(emit, verbose, isLate).run(from ?? dom.documentElement(document));
  }

  class Walk {
    /** @param {(line: SomeLine) => unknown} emit @param {boolean} verbose @param {() => boolean} isLate */
    constructor(emit, verbose, isLate) {
      this.emit = emit;
      this.verbose = verbose;
      this.isLate = isLate;
      /** @type {OpenPosition[]} */
      this.stack = [];
      /** @type {ElementLine[]} */
      this.waiting = []; // lines that are open around this place and not yet sent
      /** @type {{ item: ElementLine, line: SomeLine } | null} */
      this.held = null; // the only line so far of a list item that is itself not yet sent
      this.text = ""; // the run of text being read
      this.hiddenText = ""; // the aria-hidden part of it, inside an element that is named by its contents
      /** @type {Node | null} */
      this.origin = null; // the text node it began with
      this.spoken = false; // whether the run has more than cell borders
      this.preformatted = false;
      /** @type {PageElement[]} */
      this.hosts = [];
      this.going = true;
      this.focus = tabmux.focused();
    }

    /** @param {PageElement | null} start */
    run(start) {
      let nodes = 0;
      if (start) {
        const above = tabmux.parentOf(start);
        const style = above && getComputedStyle(above);
        this.enter(start, {
          line: null,
          indent: 0,
          mode: "flow",
          named: false,
          pointer: style?.cursor === "pointer",
          shown: true,
          muted: false,
          hidden: false,
          editable: above instanceof HTMLElement && dom.editable(above),
          laidOut: false,
          row: null,
        });
      }
      const { stack } = this;
      while (stack.length > 0 && this.going) {
        if (++nodes > MOST_NODES || (nodes % NODES_PER_LOOK_AT_THE_CLOCK === 0 && this.isLate())) break;
        const place = stack[stack.length - 1];
        let node;
        if (place.list) {
          node = place.list[place.at++];
        } else {
          node = place.next;
          if (node) place.next = dom.nextSibling(node);
        }
        if (!node) {
          stack.pop();
          this.leave(place);
          continue;
        }
        const type = dom.type(node);
        if (type === 3) this.read(node, place);
        else if (type === 1) this.enter(/** @type {PageElement} */ (node), place);
      }
      const whole = this.going && stack.length === 0;
      for (let place = stack.pop(); place && this.going; place = stack.pop()) this.leave(place);
      return { hosts: this.hosts.map(tabmux.ref), moreHosts: this.hosts.length === MOST_HOSTS, whole };
    }

    /* Text */

    /** @param {Node} node @param {Position} place */
    read(node, place) {
      if (!place.shown || place.muted) return;
      const data = dom.data(node);
      if (place.hidden && place.named) {
        this.hiddenText += data;
        return;
      }
      if (/\S/.test(data)) {
        const pre = place.mode === "flow" && data.includes("\n") && keepsLines(node);
        this.preformatted = pre && (this.preformatted || !this.spoken);
        if (!this.spoken) this.origin = node;
        this.spoken = true;
      }
      this.text += data;
    }

    /** @param {string} text @param {PageElement} element */
    say(text, element) {
      if (!this.spoken) this.origin = element;
      this.text += text;
      this.spoken = true;
      this.preformatted = false;
    }

    /**
     * Ends the run of text: it becomes the text of the line around it if that has none yet, else a line of its own.
     * @param {Position} place
     */
    flush(place) {
      const { line } = place;
      if (!this.spoken) {
        this.text = "";
        return;
      }
      let text = this.preformatted
        ? clean(this.text)
            .trimEnd()
            .replace(/^\s*\n/, "")
        : collapse(this.text).trim();
      if (place.row) text = withoutBorders(text, line?.filled === true);
      this.text = "";
      this.spoken = false;
      if (text === "") return;
      if (line?.takesText && !line.sent && !line.filled && !line.deferred) {
        if (line.operable) {
          if (tabmux.isIcon(text)) {
            line.icon ??= text;
            return;
          }
          text = tabmux.withoutIcons(text);
        }
        line.text = text;
        line.filled = true;
        line.keep = true;
        return;
      }
      if (line?.labelled && says((line.label ??= labelOf(line.control, line.role)), text)) return;
      this.sendWaiting();
      this.send({ element: null, role: "text", text, indent: place.indent, operable: false, container: line, origin: this.origin });
    }

    /* Elements */

    /** @param {PageElement} element @param {Position} place */
    enter(element, place) {
      const tag = dom.tag(element);
      if (UNSEEN.has(tag)) return;
      if (tag === "br") {
        this.text += " ";
        return;
      }
      /* This is the expensive part of a walk, so it reads few properties, in the faster of two ways. */
      const style = getComputedStyle(element);
      const display = property(style, "display");
      if (display === "none" && tag !== "area") return;
      if (display === "") {
        /* Not in the flat tree: its parent has a shadow root that we do not know. */
        this.suspect(dom.parent(element));
        return;
      }
      const shown = property(style, "visibility") === "visible";
      const pointer = property(style, "cursor") === "pointer";
      const inline = display === "contents" || display.startsWith("inline") || display.startsWith("ruby");
      const signs = readSigns(element);
      if (LIGATURES.has(tag) && place.line?.operable && place.line.takesText && tabmux.isLigature(element)) {
        place.line.icon ??= collapse(dom.textContent(element) ?? "").trim();
        return;
      }
      const hidden = place.hidden || signs.hidden;
      const editable = place.editable || ((signs.editable || tag === "body") && dom.editable(element));
      const kind = shown ? classify(element, tag, signs, place, pointer, editable, this.verbose) : PLAIN;

      if (kind.said) {
        if (!place.muted) this.say(inline ? kind.said : ` ${kind.said} `, element);
        return;
      }
      const line = kind.role ? this.open(element, kind, place, signs) : null;
      const cell = !line && kind.cell;
      if (cell) this.openCell(place, kind);
      else if (!line && !inline) this.border(place);

      /** @type {OpenPosition} */
      const inner = {
        next: null,
        list: null,
        at: 0,
        line: line ?? place.line,
        indent: line ? line.indent + 1 : place.indent,
        mode: (line && kind.mode) || place.mode,
        named: place.named || (line !== null && kind.mode === "named"),
        pointer,
        shown,
        hidden,
        editable,
        muted: place.muted || kind.muted === true,
        laidOut: kind.table !== undefined ? kind.table === "none" : place.laidOut,
        row: line ? (kind.role === "row" && kind.mode === "row" ? line : null) : place.row,
        opened: line,
        block: !line && !inline && !cell,
      };
      const withheld = !inline && !display.startsWith("table") && property(style, "content-visibility") === "hidden";
      if (!SEALED.has(tag) && !kind.frame && !withheld) this.descend(element, tag, inner);
      this.stack.push(inner);
    }

    /** @param {PageElement} element @param {string} tag @param {OpenPosition} inner */
    descend(element, tag, inner) {
      const root = rootOf(element);
      if (root) {
        inner.next = dom.firstChild(root);
        return;
      }
      const first = dom.firstChild(element);
      if (tag.includes("-") || (!first && HOSTS.has(tag))) this.suspect(element);
      if (tag === "slot") {
        const assigned = dom.assigned(element);
        if (assigned.length > 0) {
          inner.list = assigned;
          return;
        }
      } else if (tag === "details" && !element.open) {
        const summary = tabmux.summaryOf(element);
        inner.list = summary ? [summary] : [];
        return;
      }
      inner.next = first;
    }

    /** @param {OpenPosition} place */
    leave(place) {
      const { opened } = place;
      if (opened) {
        this.flush(place);
        if (opened.takesText && !opened.filled) opened.text = collapse(this.hiddenText).trim() || (opened.icon ?? "");
        this.hiddenText = "";
        this.close(opened);
      } else if (place.block) {
        this.border(place);
      }
    }

    /**
     * A block begins or ends: text before and after it belongs to different lines, or to different words of one name.
     * @param {Position} place
     */
    border(place) {
      if (place.mode === "flow") this.flush(place);
      else this.text += " ";
    }

    /** @param {Position} place @param {Kind} kind */
    openCell(place, kind) {
      const { row } = place;
      if (!row) return this.border(place);
      if (kind.cell === "columnheader") row.header ??= true;
      else if (kind.cell !== "rowheader") row.header = false;
      if (row.cells++ > 0) this.text += " | ";
    }

    /** @param {PageElement} element @param {Kind} kind @param {Position} place @param {Signs} signs */
    open(element, kind, place, signs) {
      this.flush(place);
      const control = controlOf(element);
      const role = kind.role ?? "";
      /** @type {ElementLine} */
      const line = {
        element,
        control,
        role,
        indent: place.indent,
        operable: kind.operable === true,
        keep: kind.keep,
        text: "",
        filled: false,
        sent: false,
        deferred: false,
        cells: 0,
        container: place.line,
        takesText: kind.takesText ?? (!signs.label && SPEAKERS.has(role)),
        labelled: signs.label || kind.takesText === false,
        label: null,
        isValue: kind.value === true,
        frame: kind.frame === true,
        sign: kind.sign,
        focused: element === this.focus || control === this.focus,
        collapsible: kind.operable ? isPressedCell(element, kind, signs) : kind.role === "listitem",
      };
      this.waiting.push(line);
      return line;
    }

    /** Ends a line. It is dropped if nothing inside it was sent and it need not be kept. @param {ElementLine} line */
    close(line) {
      if (this.held?.item === line) {
        const { line: only } = this.held;
        /** @type {{ item: ElementLine, line: SomeLine } | null} */
        this.held = null;
        if (line.operable && !doesTheSame(only)) this.pass(line);
        else only.indent -= 1;
        this.pass(only);
      } else if (!line.sent) {
        line.collapsible = false; // no line inside replaces it
        if (line.keep) this.sendWaiting();
        else this.waiting.pop();
      }
    }

    /** Sends the lines that are open around this place, because something inside them is sent. */
    sendWaiting() {
      for (const line of this.waiting.splice(0)) this.send(line);
    }

    /**
     * A list item with only one line inside and no text of its own is replaced by that line, so it waits for a second one.
     * So is a cell that can be clicked, by the button inside.
     * @param {SomeLine} line
     */
    send(line) {
      if (this.held) {
        const { item, line: first } = this.held;
        /** @type {{ item: ElementLine, line: SomeLine } | null} */
        this.held = null;
        this.pass(item);
        this.pass(first);
      }
      const item = line.container;
      const isOpen = item?.deferred && !item.sent;
      if (line.collapsible && !line.filled) {
        if (isOpen && item.operable) this.pass(item);
        line.deferred = true;
      } else if (isOpen) this.held = { item, line };
      else return this.pass(line);
      line.sent = !line.deferred;
    }

    /** @param {SomeLine} line */
    pass(line) {
      line.sent = true;
      if (this.going && this.emit(line) === false) this.going = false;
    }

    /**
     * Stores an element that may have a closed shadow root and was not inspected at its present size.
     * @param {Node | null} element
     */
    suspect(element) {
      if (element && this.hosts.length < MOST_HOSTS && mayHide(element)) this.hosts.push(/** @type {PageElement} */ (element));
    }
  }

  /** Whether it is a cell without a name that can be clicked, such as a day of a calendar. @param {PageElement} element @param {Kind} kind @param {Signs} signs */
  const isPressedCell = (element, kind, signs) =>
    CELLS.has(kind.role ?? "") && kind.sign === "clickable" && !signs.label && !signs.draggable && !dom.has(element, "title");

  /** Whether a click on the only line in a cell is a click on the cell, and nothing else. @param {SomeLine} line */
  function doesTheSame({ element, role }) {
    if (!element || (role !== "button" && role !== "link")) return false;
    return role === "button" || /^(?:#|javascript:)/.test(dom.attribute(element, "href") ?? "#");
  }

  /** Whether the debugger must look whether an element has a closed shadow root. @type {Tabmux["mayHide"]} */
  function mayHide(node) {
    if (!tabmux.isElement(node) || rootOf(node)) return false;
    const size = sizeOf(node);
    return size !== "0x0" && asked.get(node) !== size;
  }

  /**
   * Row text without borders at its end. Borders at its start are kept only for the first text of a row.
   * @param {string} text
   * @param {boolean} later
   */
  function withoutBorders(text, later) {
    /** @param {string} character */
    const isBorder = (character) => character === " " || character === "|";
    let [start, end] = [0, text.length];
    while (end > 0 && isBorder(text[end - 1])) end--;
    if (later) while (start < end && isBorder(text[start])) start++;
    return text.slice(start, end);
  }

  /** @param {Node} text */
  const keepsLines = (text) => {
    const parent = tabmux.parentOf(text);
    if (parent === null) return false;
    const { whiteSpaceCollapse, whiteSpace } = getComputedStyle(parent);
    return (whiteSpaceCollapse ?? whiteSpace ?? "").startsWith("pre");
  };

  /** @param {Label} label @param {string} text */
  const says = (label, text) => label.text.toLowerCase().includes(text.toLowerCase());

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ walk, elementsOf, adoptClosedRoots, mayHide, unseen: UNSEEN, mayHost: HOSTS }));
})();
