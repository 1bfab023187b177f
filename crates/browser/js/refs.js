/**
 * Which element a number means after the page has rendered again. A number belongs to a thing as a user sees it: its
 * role, its name and the named things around it. If the page replaces its element by an equal one, the number follows;
 * if the page reuses its element for something else, the number does not stay. If two elements could be meant, neither
 * gets it.
 */
(() => {
  "use strict";
  const { dom, walk, present, numberOf, assign, release, alias, ref } = tabmux;

  /** Larger pages keep a number only as long as its element. */
  const MOST_LINES = 20_000;
  const LONGEST_TEXT = 200;
  const AROUND = 3;
  /** Attributes by which the authors of a page name a thing. */
  const AUTHORED = ["data-testid", "data-test-id", "data-test", "data-cy", "id", "name", "href"];
  /** Roles whose name is their content: with another content, it is another thing. */
  const CONTENT = new Set(["row", "listitem", "option", "treeitem", "cell", "gridcell", "heading", "article", "link", "clickable"]);

  /** What each number stood for when it was last shown. @type {Map<number, Identity>} */
  const identities = new Map();
  /** Numbers whose things are not on the page now. @type {Set<number>} */
  let gone = new Set();
  /** Elements of earlier walks. @type {WeakSet<Element>} */
  const walked = new WeakSet();
  /** Whether numbers were not given to new elements because that took too long. */
  let isBehind = false;

  /** The element with that number, wherever it is now. @type {Tabmux["element"]} */
  function element(number) {
    const found = present(number);
    const identity = identities.get((found && numberOf(found)) ?? number);
    if (!identity || (found && isAsBefore(number, identity, new Map()))) return found;
    /** @type {SomeLine[]} */
    const lines = [];
    const { whole } = walk((line) => void lines.push(line));
    if (whole) match(lines, () => false);
    return present(number);
  }

  /**
   * Lets numbers follow their things, after a complete walk and before its lines are printed. While everything that has
   * a number looks as it did, there is nothing to do. Changes nothing and is false if `isLate` says so.
   * @type {Tabmux["follow"]}
   */
  function follow(lines, isLate = () => false) {
    const stop = sometimes(isLate);
    for (const { element } of lines) {
      if (!element || walked.has(element)) continue;
      walked.add(element);
      isBehind = true;
    }
    const settled = isSettled(stop);
    const isDone = settled === null ? false : (settled && !(isBehind && gone.size > 0)) || match(lines, stop);
    if (isDone) isBehind = false;
    return isDone;
  }

  /** Asks only now and then, because there is much to ask it for. @param {() => boolean} isLate */
  function sometimes(isLate) {
    let asked = 0;
    return () => ++asked % 16 === 0 && isLate();
  }

  /** Whether everything looks as it did; null if that takes too long. @param {() => boolean} stop */
  function isSettled(stop) {
    const known = new Map();
    for (const [number, identity] of identities) {
      if (stop()) return null;
      if (!gone.has(number) && !isAsBefore(number, identity, known)) return false;
    }
    return true;
  }

  /** @param {number} number @param {Identity} identity @param {Map<Element, string>} known */
  function isAsBefore(number, identity, known) {
    const found = present(number);
    return found !== null && looks(found) === identity.looks && around(identity, known);
  }

  /** Keeps in mind what the printed lines stand for. @type {Tabmux["record"]} */
  function record(lines) {
    const known = new Map();
    for (const line of lines) {
      if (!line.element) continue;
      const number = ref(line.element);
      gone.delete(number);
      if (!identities.has(number)) identities.set(number, completed(line, traitsOf(line, known)));
    }
    for (const number of identities.keys()) {
      if (identities.size <= MOST_LINES) break;
      identities.delete(number);
      gone.delete(number);
    }
  }

  /**
   * Gives every number to the element that it stands for now, unless that takes too long: then it is false.
   * @param {SomeLine[]} lines
   * @param {() => boolean} stop
   */
  function match(lines, stop) {
    /** @type {Thing[]} */
    const things = [];
    const known = new Map();
    for (const line of lines) {
      if (!line.element) continue;
      if (things.length === MOST_LINES) return true;
      if (stop()) return false;
      things.push({ line, own: numberOf(line.element), number: 0, ...traitsOf(line, known) });
    }
    const old = [...identities].map(([number, identity]) => ({ number, ...identity }));
    const unclaimed = new Set(identities.keys());
    /** @param {Thing} thing @param {number | undefined} number */
    const give = (thing, number) => {
      if (number === undefined) return;
      thing.number = number;
      unclaimed.delete(number);
    };
    for (const thing of things) {
      const before = thing.own === undefined ? undefined : identities.get(thing.own);
      if (before?.full === thing.full) give(thing, thing.own);
    }
    for (const key of /** @type {const} */ (["full", "soft", "authored"])) {
      const before = countBy(old, key);
      const now = countBy(things, key);
      for (const thing of things) {
        const value = thing[key];
        if (thing.number || !value || now.get(value)?.length !== 1) continue;
        const candidates = before.get(value) ?? [];
        if (candidates.length === 1 && unclaimed.has(candidates[0].number)) give(thing, candidates[0].number);
      }
    }
    // A number that was not shown, such as one of a survey, stays only if no shown one is meant.
    for (const thing of things) if (!thing.number && isUnshown(thing.own)) give(thing, thing.own);
    for (const thing of renamed(things, old)) if (unclaimed.has(thing.own ?? 0)) give(thing, thing.own);
    /** @type {Map<number, Identity>} */
    const renewed = new Map();
    for (const { line, own, number, ...traits } of things) {
      if (stop()) return false;
      if (identities.has(number)) renewed.set(number, completed(line, traits));
    }
    for (const { line, own, number } of things) {
      if (own !== number) release(line.element);
      if (number) assign(line.element, number);
      if (own !== number && isUnshown(own)) alias(own, number);
    }
    for (const [number, identity] of renewed) identities.set(number, identity);
    gone = unclaimed;
    return true;
  }

  /** @param {number | undefined} number @returns {number is number} */
  const isUnshown = (number) => number !== undefined && !identities.has(number);

  /**
   * Controls that only changed their name, such as a button "Play" that is "Pause" now: nothing else changed among those
   * of the same role in the same place.
   * @param {Thing[]} things
   * @param {(Identity & { number: number })[]} old
   */
  function renamed(things, old) {
    const before = countBy(old, "group");
    return [...countBy(things, "group").values()].flatMap((group) => {
      const changed = group.filter((thing) => !thing.number);
      const [only] = changed;
      const same = changed.length === 1 && group.length === before.get(only.group)?.length;
      return same && !CONTENT.has(only.line.role) && identities.get(only.own ?? 0)?.group === only.group ? [only] : [];
    });
  }

  /** By what a line is matched. @param {ElementLine} line @param {Map<ElementLine | null, Surroundings>} known @returns {Traits} */
  function traitsOf(line, known) {
    const { control, role } = line;
    const name = nameOf(line);
    const around = surroundings(line.container, known);
    const general = stem(name);
    return {
      full: `${role}\n\n${name}\n\n${around.place}`,
      soft: general && `${role}\n\n${general}\n\n${around.place}`,
      authored: authoredBy(control, role),
      group: `${role}\n\n${around.place}`,
      around,
    };
  }

  /** With its looks, which are read only for what has a number: that takes the most time. @param {ElementLine} line @param {Traits} traits @returns {Identity} */
  function completed({ element }, { around, ...traits }) {
    around.near ??= around.elements.map((one) => ({ element: new WeakRef(one), looks: looks(one) }));
    return { ...traits, looks: looks(element), near: around.near };
  }

  /** @param {PageElement} control @param {string} role */
  function authoredBy(control, role) {
    if (!hasAttributes(control)) return "";
    for (const attribute of AUTHORED) {
      const value = dom.attribute(control, attribute);
      if (isAuthored(value)) return [role, attribute, value].join("\n\n");
    }
    return "";
  }
  const hasAttributes = tabmux.method(Element.prototype, "hasAttributes");

  /**
   * The named things around a line, the nearest first.
   * @param {ElementLine | null} container
   * @param {Map<ElementLine | null, Surroundings>} known
   * @returns {Surroundings}
   */
  function surroundings(container, known) {
    if (!container) return NOTHING;
    let found = known.get(container);
    if (!found) {
      const outer = surroundings(container.container, known);
      const name = container.sent ? stem(nameOf(container)) : "";
      found = name
        ? { place: `${container.role} ${name}\n${outer.place}`, elements: [container.element, ...outer.elements].slice(0, AROUND) }
        : outer;
      known.set(container, found);
    }
    return found;
  }
  /** @type {Surroundings} */
  const NOTHING = { place: "", elements: [] };

  /** The name of a line; of a long one the beginning and the length. @param {SomeLine} line */
  function nameOf(line) {
    const { text } = tabmux.lineName(line);
    return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)} ${text.length}` : text;
  }

  /** Words without those that have digits: numbers change while the thing stays. @param {string} name */
  const stem = (name) =>
    name
      .split(" ")
      .filter((word) => !/\d/.test(word))
      .join(" ");

  /** Values with digits are often generated, and mean something else after the next rendering. @param {string | null} value */
  const isAuthored = (value) => Boolean(value) && !/[\d:]/.test(value ?? "");

  /** What can be compared quickly: labels, and the beginning of the text. @param {Element} element */
  function looks(element) {
    let text = `${dom.attribute(element, "aria-label") ?? ""}\n${dom.attribute(element, "title") ?? ""}\n`;
    const longest = text.length + LONGEST_TEXT;
    /** @type {Node | null} */
    let node = element;
    for (let nodes = 0; node && nodes < MOST_NODES && text.length < longest; nodes++) {
      if (tabmux.isText(node)) text += dom.data(node).slice(0, LONGEST_TEXT);
      node = dom.firstChild(node) ?? after(node, element);
    }
    return text.slice(0, longest);
  }
  const MOST_NODES = 50;

  /** The node after this one and its contents, within `top`. @param {Node} node @param {Node} top */
  function after(node, top) {
    for (let at = /** @type {Node | null} */ (node); at && at !== top; at = dom.parent(at)) {
      const next = dom.nextSibling(at);
      if (next) return next;
    }
    return null;
  }

  /** Whether the named things around look as they did. @param {Identity} identity @param {Map<Element, string>} known */
  const around = ({ near }, known) =>
    near.every(({ element, looks: before }) => {
      const now = element.deref();
      if (!now || !dom.connected(now)) return false;
      const found = known.get(now) ?? looks(now);
      known.set(now, found);
      return found === before;
    });

  /**
   * @template {Pick<Identity, "full" | "soft" | "authored" | "group">} T
   * @param {T[]} all
   * @param {"full" | "soft" | "authored" | "group"} key
   * @returns {Map<string, T[]>}
   */
  function countBy(all, key) {
    const groups = new Map();
    for (const one of all) {
      const group = groups.get(one[key]);
      if (group) group.push(one);
      else groups.set(one[key], [one]);
    }
    return groups;
  }

  /**
   * Elements that a user could take for the one with that number, which is gone: those of the same role and name.
   * @type {Tabmux["candidates"]}
   */
  function candidates({ n }) {
    const lost = identities.get(n);
    if (!lost) return { lines: [] };
    const [role, name] = lost.full.split("\n\n");
    return tabmux.find({ text: name, role, limit: 5, maxBytes: 1_000 });
  }

  Object.assign(tabmux, /** @satisfies {Partial<Tabmux>} */ ({ element, follow, record, candidates }));
})();
