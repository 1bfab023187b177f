/**
 * Finds the elements that a caller names by role, name and a text near them. Roles and names are those of snapshots.
 */
(() => {
  "use strict";
  const { dom, ref, walk, collapse, childrenOf, parentOf, isElement, isField, roleOf } = tabmux;

  const MOST_LISTED = 10;
  const MOST_SIMILAR = 5;
  const MOST_MATCHES = 2_000;
  const MOST_ANCHORS = 200;
  const MOST_COMPARED = 5_000;
  const MOST_BYTES = 3_000;
  const LONGEST_CONTEXT = 60;
  /** Names whose pairs of letters are alike to this degree are similar. */
  const ALIKE = 0.4;

  /** @param {string} text */
  const words = (text) => new Set(text.split(" "));
  const FIELDS = words("textbox searchbox combobox spinbutton checkbox radio switch slider listbox date color file menuitemcheckbox");
  /** Things of which each one is a record: what belongs to one does not belong to its neighbour. */
  const ITEMS = words("row listitem treeitem option article tab menuitem");
  const AROUND = words("row listitem treeitem article dialog alertdialog form group region radiogroup");

  /**
   * For each wanted element of this frame: how many match best and how well (`rank`, smaller is better), the uids and
   * lines of the first of them, and lines that are similar if none matches. `fields` says that fields are meant.
   * @type {Tabmux["targets"]}
   */
  function targets({ wanted, fields }) {
    /** @type {SomeLine[]} */
    const lines = [];
    const verbose = wanted.some(({ role }) => role && tabmux.roles.CELLS.has(role));
    const walked = walk((line) => void lines.push(line), { verbose });
    if (walked.whole && !verbose) tabmux.follow(lines);
    const modal = lines.findLast(isModal)?.element ?? null;
    /** @type {SomeLine[]} */
    const shown = [];
    const found = wanted.map((one) => search(lines, one, { fields, modal }, shown));
    if (!verbose) tabmux.record(shown);
    const frames = lines.flatMap((line) => (line.frame && line.element ? [{ line: 0, indent: 0, element: ref(line.element) }] : []));
    return { lines: [], ...walked, frames, targets: found };
  }

  /** @param {SomeLine} line */
  const isModal = (line) =>
    line.element !== null &&
    line.role.endsWith("dialog") &&
    (dom.attribute(line.element, "aria-modal") === "true" || tabmux.inState(line.element, ":modal"));

  /** @param {SomeLine[]} lines @param {Wanted} wanted @param {Aim} aim @param {SomeLine[]} shown */
  function search(lines, wanted, aim, shown) {
    const all = matches(lines, wanted, aim);
    const near = wanted.near ? nearMatches(lines, all, fold(wanted.near)) : null;
    const { best, rank } = bestOf(near ? near.matches : all);
    const missing = best.length > 0 ? [] : similar(lines, wanted, all);
    const told = best.length > 0 ? best.slice(0, MOST_LISTED).map(({ at }) => at) : missing;
    const printed = tabmux.printed(
      told.map((at) => lines[at]),
      MOST_BYTES,
    );
    const withContext = printed.map((line, index) => (told.length > 1 || best.length === 0 ? line + contextOf(lines, told[index]) : line));
    for (const at of told.slice(0, printed.length)) shown.push(lines[at]);
    return {
      rank,
      found: best.length,
      uids: best.slice(0, MOST_LISTED).map(({ line }) => `${tabmux.document}_${ref(line.element)}`),
      lines: withContext,
      anchors: near ? near.anchors : 0,
      foreign: isForeign(),
    };
  }

  /** Whether the tab's page is of another origin than this frame. */
  function isForeign() {
    const origins = [...(location.ancestorOrigins ?? [])];
    return origins.length > 0 && origins.at(-1) !== self.origin;
  }

  /** @param {SomeLine[]} lines @param {Wanted} wanted @param {Aim} aim @returns {Match[]} */
  function matches(lines, { role, name }, { fields, modal }) {
    const said = name == null ? null : fold(name);
    /** @type {Match[]} */
    const found = [];
    for (let at = 0; at < lines.length && found.length < MOST_MATCHES; at++) {
      const line = lines[at];
      if (!line.element || (role != null && line.role !== role && line.sign !== role)) continue;
      const own = fold(tabmux.lineName(line).text);
      // "Subscribe" is not "Unsubscribe".
      if (said !== null && !hasWord(own, said)) continue;
      const isMeant = role != null || (fields ? isFillable(line) : line.operable);
      const isExact = said === null || own === said;
      const isBlocked = tabmux.isDisabled(line.control) || (modal !== null && !tabmux.holds(modal, line.element));
      found.push({ at, line, own, rank: (isMeant ? 0 : 4) + (isExact ? 0 : 2) + (isBlocked ? 1 : 0) });
    }
    return found;
  }

  /** @param {ElementLine} line */
  const isFillable = (line) => FIELDS.has(line.role) || isField(line.control) || line.isValue === true;

  /** The best matches, without those that only surround another one of the same name. @param {Match[]} all */
  function bestOf(all) {
    const rank = Math.min(...all.map((match) => match.rank));
    const equal = all.filter((match) => match.rank === rank);
    const names = new Map();
    for (const match of equal) names.set(match.own, (names.get(match.own) ?? 0) + 1);
    /** The names of the matches inside each element. @type {Map<Element, Set<string>>} */
    const inside = new Map();
    for (const { own, line } of equal) {
      if ((names.get(own) ?? 0) < 2) continue;
      for (let at = parentOf(line.element); at; at = parentOf(at)) {
        const known = inside.get(at) ?? new Set();
        // Then its ancestors have it, too.
        if (known.has(own)) break;
        inside.set(at, known.add(own));
      }
    }
    const best = equal.filter(({ own, line }) => !inside.get(line.element)?.has(own));
    return { best, rank: best.length > 0 ? rank : null };
  }

  /**
   * The matches that are in the same row, list item, form, group or section as the text. The text has to be there as
   * words of its own: "Invoice 1" is not "Invoice 17".
   * @param {SomeLine[]} lines
   * @param {Match[]} all
   * @param {string} text
   */
  function nearMatches(lines, all, text) {
    const inside = byAncestor(all);
    const own = new Set(all.map(({ line }) => line));
    const anchors = lines.filter((line) => !own.has(/** @type {ElementLine} */ (line)) && hasWord(wordsOf(line), text)).slice(0, MOST_ANCHORS);
    /** @type {Set<Match>} */
    const sure = new Set();
    /** @type {Set<Match>} */
    const unsure = new Set();
    for (const anchor of anchors) {
      const around = nearest(anchor, inside);
      for (const match of around) (around.length === 1 ? sure : unsure).add(match);
    }
    return { matches: [...(sure.size > 0 ? sure : unsure)], anchors: anchors.length };
  }

  /** @param {Match[]} all @returns {Map<Element, Match[]>} */
  function byAncestor(all) {
    const inside = new Map();
    for (const match of all) {
      for (let at = /** @type {PageElement | null} */ (match.line.element); at; at = parentOf(at)) {
        const known = inside.get(at);
        if (known) known.push(match);
        else inside.set(at, [match]);
      }
    }
    return inside;
  }

  /** The best matches in the smallest part of the page around the anchor that has any. @param {SomeLine} anchor @param {Map<Element, Match[]>} inside */
  function nearest(anchor, inside) {
    const start = anchor.element ?? (anchor.origin && (isElement(anchor.origin) ? anchor.origin : parentOf(anchor.origin)));
    /** Those of other records, which do not belong to the anchor however large the part is. @type {Set<Match>} */
    const others = new Set();
    /** @type {PageElement | null} */
    let below = null;
    for (let at = start ?? null; at; at = parentOf(at)) {
      const here = (inside.get(at) ?? []).filter((match) => !others.has(match));
      for (const match of here) if (below && isNeighbour(below, childTowards(at, match.line.element), match)) others.add(match);
      const own = here.filter((match) => !others.has(match));
      if (own.length > 0) return bestOf(own).best;
      below = at;
    }
    return [];
  }

  /** The child of `outer` that holds the element. @param {Element} outer @param {PageElement} element */
  function childTowards(outer, element) {
    let child = /** @type {PageElement} */ (element);
    for (let at = parentOf(child); at && at !== outer; at = parentOf(at)) child = at;
    return child;
  }

  /** Whether these two children of one parent are two records, such as rows; the match is in the other one. @param {PageElement} one @param {PageElement} other @param {Match} match */
  function isNeighbour(one, other, match) {
    if (one === other) return false;
    // The cells of a row are alike, and belong to one record.
    if (tabmux.roles.CELLS.has(roleOf(one))) return false;
    if (ITEMS.has(roleOf(one)) && ITEMS.has(roleOf(other))) return true;
    const shape = shapeOf(one);
    if (shape !== "div." && shape !== "span." && shape === shapeOf(other)) return true;
    // A label beside its field begins in another way, or the field's side has no text but the field's own.
    return dom.tag(one) === dom.tag(other) && beginAlike(one, other) && saysMore(other, match.line.element);
  }

  /** Whether the first elements in both are of one kind. @param {PageElement} one @param {PageElement} other */
  function beginAlike(one, other) {
    const [first, second] = [one, other].map((it) => [...childrenOf(it)].find(isElement));
    return first !== undefined && second !== undefined && dom.tag(first) === dom.tag(second);
  }

  /** Whether the outer element has words that the inner one does not have. @param {PageElement} outer @param {PageElement} inner */
  const saysMore = (outer, inner) => WORD.test(fold(tabmux.textOf(outer)).replace(fold(tabmux.textOf(inner)), ""));

  /** @param {PageElement} element */
  const shapeOf = (element) => `${dom.tag(element)}.${(dom.attribute(element, "class") ?? "").trim().split(/\s+/)[0]}`;

  /** Indexes of lines that resemble what is wanted. @param {SomeLine[]} lines @param {Wanted} wanted @param {Match[]} all */
  function similar(lines, { role, name }, all) {
    if (all.length > 0) return all.slice(0, MOST_LISTED).map(({ at }) => at);
    const said = fold(name ?? "");
    /** @type {{ at: number, score: number }[]} */
    const scored = [];
    /** @type {number[]} */
    const same = [];
    for (let at = 0; at < Math.min(lines.length, MOST_COMPARED); at++) {
      const line = lines[at];
      if (!line.element) continue;
      if (line.role === role && same.length < MOST_SIMILAR) same.push(at);
      const own = fold(tabmux.lineName(line).text).slice(0, 200);
      const score = own && said ? alike(own, said) + (line.role === role ? 0.1 : 0) : 0;
      if (score >= ALIKE && (line.operable || line.role === role)) scored.push({ at, score });
    }
    scored.sort((one, other) => other.score - one.score);
    const best = scored.slice(0, MOST_SIMILAR).map(({ at }) => at);
    return best.length > 0 ? best : same;
  }

  /** The share of pairs of letters that two texts have in common; 1 if one contains the other. @param {string} one @param {string} other */
  function alike(one, other) {
    if (one.includes(other) || other.includes(one)) return 1;
    const pairs = pairsOf(one);
    const others = pairsOf(other);
    let common = 0;
    for (const pair of pairs) if (others.has(pair)) common++;
    return (2 * common) / Math.max(1, pairs.size + others.size);
  }

  /** @param {string} text */
  function pairsOf(text) {
    const pairs = new Set();
    for (let at = 0; at + 1 < Math.min(text.length, 100); at++) pairs.add(text.slice(at, at + 2));
    return pairs;
  }

  /** What tells a line from others that look the same: the row, item or form around it, else the heading above it. @param {SomeLine[]} lines @param {number} index */
  function contextOf(lines, index) {
    for (let outer = lines[index].container; outer; outer = outer.container) {
      if (!AROUND.has(outer.role)) continue;
      const name = tabmux.lineName(outer).text || (ITEMS.has(outer.role) ? tabmux.textOf(outer.element) : "");
      if (name) return ` in ${outer.role} ${short(name)}`;
    }
    for (let at = index - 1; at >= 0; at--) {
      const above = lines[at];
      const isNear = !above.element && index - at <= 4;
      if (isNear || above.role === "heading") return ` after ${short(isNear ? above.text : tabmux.lineName(above).text)}`;
    }
    return "";
  }

  /** @param {string} text */
  const short = (text) => tabmux.quote(text.length > LONGEST_CONTEXT ? `${text.slice(0, LONGEST_CONTEXT).toWellFormed()}…` : text);

  /** The text of a line that `near` is compared with. @param {SomeLine} line */
  const wordsOf = (line) => fold(line.element && !line.isValue ? tabmux.lineName(line).text : line.text);

  const WORD = /[\p{L}\p{N}]/u;
  /** Scripts that are written without spaces between words. */
  const NO_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

  /** Whether the text occurs as words of its own, and not as a part of longer ones. @param {string} words @param {string} text */
  function hasWord(words, text) {
    if (text === "") return true;
    for (let at = words.indexOf(text); at >= 0; at = words.indexOf(text, at + 1)) {
      const end = at + text.length;
      if (!isOneWord(words[at - 1], words[at]) && !isOneWord(words[end - 1], words[end])) return true;
    }
    return false;
  }

  /** Whether two characters beside each other belong to one word. @param {string | undefined} one @param {string | undefined} next */
  const isOneWord = (one = " ", next = " ") => WORD.test(one) && WORD.test(next) && !NO_SPACES.test(one) && !NO_SPACES.test(next);

  /** Without case, without borders of cells, and without the signs at the end of a label. @param {string} text */
  function fold(text) {
    const folded = collapse(collapse(text).replaceAll("|", " ")).trim().toLowerCase();
    return folded.replace(/[\s*:]+$/u, "") || folded;
  }

  tabmux.targets = targets;
})();
