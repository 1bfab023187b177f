/**
 * Names that no markup gives: the text beside a field, the words of an icon, the colour of a swatch. Only elements
 * without another name are looked at, so that a walk stays fast.
 */
(() => {
  "use strict";
  const { dom, isElement, isText, collapse, textOf, parentOf } = tabmux;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));

  /* Text without icons */

  const ICONS = /(?:(?![©®™‼⁉])\p{Extended_Pictographic}[\ufe0f\u200d\p{Emoji_Modifier}]*|\p{Regional_Indicator}{2}|[\ue000-\uf8ff])+/gu;

  /** A name without the pictures before and after its words. A number alone is no word: "👍 5" stays. @type {Tabmux["withoutIcons"]} */
  function withoutIcons(text) {
    if (!/[\u2190-\uffff]/.test(text)) return text;
    const plain = text.replace(ICONS, (icon, at) =>
      /[\p{L}\p{N}]/u.test(text.slice(0, at)) && /[\p{L}\p{N}]/u.test(text.slice(at + icon.length)) ? icon : " ",
    );
    return /\p{L}/u.test(plain) ? plain.replace(/ +/g, " ").trim() : text;
  }

  /** Whether a text has no words, only pictures. @type {Tabmux["isIcon"]} */
  const isIcon = (text) => /[\u2190-\uffff]/.test(text) && text.length <= 20 && !/\S/.test(text.replace(ICONS, ""));

  /** Whether its text is the name of a picture in a font. @type {Tabmux["isLigature"]} */
  const isLigature = (element) => /(?:^|\s)(?:material-(?:icons|symbols)|mat-icon)/.test(dom.attribute(element, "class") ?? "");

  /* Icons */

  const TOOLTIPS = [
    "data-tooltip",
    "data-tip",
    "data-original-title",
    "data-bs-original-title",
    "data-title",
    "data-hint",
    "data-balloon",
    "tooltip",
    "mattooltip",
    "uk-tooltip",
  ];
  const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];

  /**
   * The name of an operable element without text: a title or an alternative text, a tooltip, a test id, the title of its
   * SVG, the symbol that it uses, or words of a class, in this order. Only for reading (`anyClass`), a class may be any.
   * @type {Tabmux["iconName"]}
   */
  function iconName(element, anyClass = true) {
    const inside = [...dom.all(element, "*")].slice(0, 12);
    const all = [element, ...inside];
    return (
      firstOf(all, ["title", "alt"], said) ||
      firstOf(all, TOOLTIPS, said) ||
      firstOf(all, TEST_IDS, (id) => wordsOf(id, OF_TEST_IDS)) ||
      said(all.map((one) => tabmux.alternative(one)).find(Boolean) ?? "") ||
      symbol(inside) ||
      classWords(inside, ICON_CLASS) ||
      classWords([element], ICON_CLASS) ||
      (anyClass ? classWords([element], ANY_CLASS) : "")
    );
  }

  /** @param {string} text */
  const said = (text) => collapse(text).trim().slice(0, 80).toWellFormed();

  /** Whether an attribute names the element better than the title of its SVG. @type {Tabmux["hasTip"]} */
  const hasTip = (element) => ["title", ...TOOLTIPS, ...TEST_IDS].some((name) => dom.has(element, name));

  /** @param {PageElement[]} elements @param {string[]} names @param {(text: string) => string} read */
  function firstOf(elements, names, read) {
    for (const element of elements) {
      for (const name of names) {
        const text = read(dom.attribute(element, name) ?? "");
        if (text) return text;
      }
    }
    return "";
  }

  /** @param {PageElement[]} inside */
  function symbol(inside) {
    const use = inside.find((one) => dom.tag(one) === "use");
    const href = use && (dom.attribute(use, "href") ?? dom.attribute(use, "xlink:href"));
    return href ? wordsOf(href.split("#").at(-1) ?? "") : "";
  }

  const ICON_CLASS =
    /^(?:[a-z]{1,4}|icon|icons|glyphicon|lucide|feather|octicon|codicon|material|tabler)[-_]+icon[-_]+(.+)$|^(?:fa|bi|ti|ri|pi|la|oi|uil|mdi|ion|icon|icons|glyphicon|lucide|feather|octicon|codicon|tabler)[-_]+(.+)$|^(.+?)[-_]?icon$/i;
  const ANY_CLASS = /^(.+)$/;
  /** Classes that say how something looks or where it is. */
  const LOOKS =
    /^(?:items|justify|self|content|place|text|font|bg|border|rounded|shadow|cursor|overflow|flex|grid|col|row|gap|space|[wh]|[pm][xytrbl]?|min|max|z|inset|top|left|right|bottom|opacity|transition|duration|ease|hover|focus|active|group|sm|md|lg|xl|xs|d|is|has|js|css|sc|jsx|svelte|astro)(?:-|$)|[\d:[\]/]|[a-z][A-Z]{2}|[A-Z][a-z]?[A-Z]/;

  /** The words of the first class that says more than how something looks. @param {PageElement[]} elements @param {RegExp} pattern */
  function classWords(elements, pattern) {
    for (const element of elements) {
      for (const name of (dom.attribute(element, "class") ?? "").split(/\s+/).slice(0, 12)) {
        const found = pattern.exec(name);
        const part = found?.slice(1).find(Boolean);
        if (!part || LOOKS.test(name)) continue;
        const text = wordsOf(part);
        if (text) return text;
      }
    }
    return "";
  }

  const EMPTY_WORDS = words(
    "btn button icon icons ico svg img image fa fas far fab fal fad solid regular light duotone ui mat mdc mui chakra ant el v bi ti round rounded " +
      "square circle big small large tiny medium sm md lg xs xl primary secondary default outline outlined ghost link plain base root wrapper " +
      "container inner outer content item box cell col row group control ctrl component clickable pointer inline block flex grid hidden visible fw lg " +
      "widget state corner addon wrap holder",
  );

  const OF_TEST_IDS = words("btn button icon");

  /** `saveRow`, `save-row` and `save_row` are "save row"; words that mean nothing are left out. @param {string} text */
  function wordsOf(text, empty = EMPTY_WORDS) {
    const parts = collapse(text)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .split(/[^\p{L}\p{N}]+/u)
      .map((word) => word.toLowerCase())
      .filter((word) => word.length > 1 && word.length <= 20 && !empty.has(word) && !/\d{2}|\d\p{L}/u.test(word));
    return parts.slice(0, 5).join(" ");
  }

  /* Swatches */

  const SWATCH = { least: 6, most: 64 };

  /** The colour that a small element without text or picture shows, as `#ff0000`; "" if it is no swatch. @type {Tabmux["swatchOf"]} */
  function swatchOf(element) {
    const box = dom.rect(element);
    if (box.width > SWATCH.most || box.height > SWATCH.most) return "";
    const parts = [element, ...[...dom.all(element, "*")].slice(0, 6)];
    if (parts.some(showsPicture) || classWords(parts.slice(1), ICON_CLASS)) return "";
    for (const part of parts.reverse()) {
      const { width, height } = dom.rect(part);
      if (width < SWATCH.least || height < SWATCH.least) continue;
      const { backgroundColor, fill } = getComputedStyle(part);
      const colour = hex(/^(?:circle|rect)$/.test(dom.tag(part)) ? fill : backgroundColor);
      if (colour) return colour;
    }
    return "";
  }

  /** @param {PageElement} part */
  function showsPicture(part) {
    if (/^(?:img|path|use|text|line|polyline|polygon|canvas|video)$/.test(dom.tag(part))) return true;
    if (/url\(/.test(getComputedStyle(part).backgroundImage)) return true;
    return ["::before", "::after"].some((side) => /^"[^"]/.test(getComputedStyle(part, side).content));
  }

  /** @param {string} colour */
  function hex(colour) {
    const rgb = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour);
    if (!rgb) return /^(?:color|oklch|oklab|lab|lch)\(/.test(colour) ? collapse(colour).replace(/ /g, ",").slice(0, 40) : "";
    if (rgb[4] === "0" || colour === BUTTON_FACE) return "";
    const digits = rgb.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, "0"));
    return `#${digits.join("")}`;
  }
  /** Of buttons without a style. */
  const BUTTON_FACE = "rgb(239, 239, 239)";

  /* Labels beside fields */

  const CONTROLS = words("input textarea select button a iframe object embed video audio canvas");
  const BESIDE = { nodes: 60, longest: 60, left: 240, above: 28 };

  /**
   * The text that labels a field by its position: on its left in the same row, or directly above it. It is the last text
   * before the field, and no other control is between them.
   * @type {Tabmux["besideLabel"]}
   */
  function besideLabel(field) {
    const box = dom.rect(field);
    if (box.width === 0 || box.height === 0) return "";
    let nodes = 0;
    for (let at = before(field, field); at && nodes++ < BESIDE.nodes; at = before(at, field)) {
      if (isText(at)) {
        if (!/[\p{L}\p{N}]/u.test(dom.data(at))) continue;
        return labels(at, box) ? labelText(at, field) : "";
      }
      if (isElement(at) && (CONTROLS.has(dom.tag(at)) || /^h[1-6]$/.test(dom.tag(at))) && dom.rendered(at)) return "";
    }
    return "";
  }

  /** The node before another one in reading order, without the contents of what is not shown. @param {Node} node @param {Node} field */
  function before(node, field) {
    if (node !== field && isElement(node) && dom.rendered(node) && !CONTROLS.has(dom.tag(node))) {
      const last = lastChild(node);
      if (last) return last;
    }
    for (let at = /** @type {Node | null} */ (node); at; at = parentOf(at)) {
      if (isElement(at) && dom.tag(at) === "form") return null;
      const sibling = previousSibling(at);
      if (sibling) return sibling;
    }
    return null;
  }
  const lastChild = tabmux.getter(Node.prototype, "lastChild");
  const previousSibling = tabmux.getter(Node.prototype, "previousSibling");

  /** @param {Node} text @param {Box} field */
  function labels(text, field) {
    const range = new Range();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (box.width === 0) return false;
    const middle = box.y + box.height / 2;
    const [right, bottom] = [box.x + box.width, box.y + box.height];
    if (middle > field.y - 2 && middle < field.y + field.height + 2) return right <= field.x + 4 && field.x - right <= BESIDE.left;
    const over = box.x < field.x + field.width && right > field.x - 20 && Math.abs(box.x - field.x) <= BESIDE.left;
    return over && bottom <= field.y + 4 && field.y - bottom <= BESIDE.above;
  }

  /** The text of the label around a text; "" if it is a sentence. @param {Node} text @param {PageElement} field */
  function labelText(text, field) {
    let label = collapse(dom.data(text)).trim();
    for (let around = parentOf(text), up = 0; around && up < 2 && !tabmux.holds(around, field); around = parentOf(around), up++) {
      const whole = textOf(around);
      if (whole.length > BESIDE.longest || dom.one(around, "input, select, textarea, button, a")) break;
      label = whole;
    }
    if (label.length > BESIDE.longest || /[.!?…]$|[.!?] /.test(label)) return "";
    return label.replace(/[\s:*]+$/, "");
  }

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ withoutIcons, isIcon, isLigature, iconName, hasTip, swatchOf, besideLabel }));
})();
