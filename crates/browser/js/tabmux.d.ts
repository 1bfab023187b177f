/** The types that the page scripts share. The compiler reads them; nothing of this file reaches a page. */

/** The object through which the scripts of this folder find each other, and which Rust calls. */
declare var tabmux: Tabmux;

interface Point {
  x: number;
  y: number;
}

interface Box extends Point {
  width: number;
  height: number;
}

/** Why something could not be done: `reason` for the program, `detail` for the message. */
interface Failure {
  ok: false;
  reason: string;
  detail: string;
}

/** An element of any kind. Properties that only some kinds have may be missing. */
type PageElement = Element &
  HTMLOrSVGElement &
  ElementCSSInlineStyle &
  Partial<Pick<HTMLElement, "innerText" | "offsetWidth" | "offsetHeight">> &
  Partial<ControlProperties> & { control?: PageElement | null; href?: { baseVal?: string }; currentCSSZoom?: number; open?: boolean };

type ControlProperties = Pick<
  HTMLInputElement,
  | "type"
  | "value"
  | "checked"
  | "indeterminate"
  | "readOnly"
  | "required"
  | "multiple"
  | "size"
  | "form"
  | "list"
  | "labels"
  | "min"
  | "max"
  | "step"
  | "pattern"
  | "minLength"
  | "maxLength"
  | "formNoValidate"
  | "willValidate"
  | "validity"
  | "validationMessage"
  | "select"
>;

/** DOM properties, read through the prototypes. See world.js. */
interface SafeDom {
  type(node: Node): number;
  parent(node: Node): ParentNode | null;
  firstChild(node: Node): ChildNode | null;
  nextSibling(node: Node): ChildNode | null;
  connected(node: Node): boolean;
  textContent(node: Node): string | null;
  data(node: Node): string;
  rootNode(node: Node): Node;
  contains(node: Node, other: Node | null): boolean;
  tag(element: Element): string;
  namespace(element: Element): string | null;
  openRoot(element: Element): ShadowRoot | null;
  slot(element: Element): PageElement | null;
  textSlot(text: Node): PageElement | null;
  attribute(element: Element, name: string): string | null;
  has(element: Element, name: string): boolean;
  matches(element: Element, selector: string): boolean;
  closest(element: Element, selector: string): PageElement | null;
  rect(element: Element): DOMRect;
  rects(element: Element): DOMRectList;
  rendered(element: Element, options?: CheckVisibilityOptions): boolean;
  one(element: Element, selector: string): PageElement | null;
  all(element: Element, selector: string): NodeListOf<PageElement>;
  allInRoot(root: Node, selector: string): NodeListOf<PageElement>;
  allInDocument(document: Node, selector: string): NodeListOf<PageElement>;
  host(root: ShadowRoot): PageElement;
  assigned(slot: Element): Node[];
  documentElement(document: Document): PageElement | null;
  title(document: Document): string;
  activeInDocument(document: Document): PageElement | null;
  activeInRoot(root: ShadowRoot): PageElement | null;
  editable(element: Element): boolean;
}

/** The name of an element. A strong one wins over the contents of the element, a weak one does not. */
interface Label {
  text: string;
  strong: boolean;
}

/** What the attributes of an element say about it. See kinds.js. */
interface Signs {
  role: boolean;
  label: boolean;
  hidden: boolean;
  editable: boolean;
  pressed: boolean;
  draggable: boolean;
  focusable: boolean;
  inert: boolean;
}

/** How text inside an element is taken: as its name, as cells of a row, or as blocks. */
type Mode = "named" | "row" | "flow";

/** What an element is for a reader. See `classify` in kinds.js. */
interface Kind {
  role?: string;
  mode?: Mode;
  keep?: boolean;
  operable?: boolean;
  value?: boolean;
  frame?: boolean;
  table?: "data" | "none" | undefined;
  sign?: string;
  said?: string;
  cell?: string;
  muted?: boolean;
  takesText?: boolean;
}

/** What a walk knows about its current position. */
interface Position {
  line: ElementLine | null;
  indent: number;
  mode: Mode;
  /** Inside an element that is named by its contents. */
  named: boolean;
  pointer: boolean;
  shown: boolean;
  muted: boolean;
  hidden: boolean;
  editable: boolean;
  /** Inside a table that only arranges things. */
  laidOut: boolean;
  row: ElementLine | null;
}

/** A position on the stack of a walk, with the children that are still to be visited. */
interface OpenPosition extends Position {
  next: ChildNode | null;
  list: Node[] | null;
  at: number;
  opened: ElementLine | null;
  block: boolean;
}

/** What the lines of text and of elements have in common. */
interface AnyLine {
  role: string;
  text: string;
  indent: number;
  operable: boolean;
  container: ElementLine | null;
  sent?: boolean;
  deferred?: boolean;
  filled?: boolean;
  collapsible?: boolean;
  isValue?: boolean;
  frame?: boolean;
  header?: boolean;
}

/** A line of text that belongs to no element of its own. */
interface TextLine extends AnyLine {
  element: null;
  origin: Node | null;
}

/** A line that shows an element. */
interface ElementLine extends AnyLine {
  element: PageElement;
  origin?: undefined;
  /** The control of a label; otherwise the element itself. */
  control: PageElement;
  keep: boolean | undefined;
  cells: number;
  takesText: boolean;
  labelled: boolean;
  label: Label | null;
  sign: string | undefined;
  focused: boolean;
  /** Whether its contents have words. */
  speaks?: boolean;
}

type SomeLine = TextLine | ElementLine;

/** What a number stands for. See refs.js. */
interface Identity {
  /** Role, name and the named things around; `soft` is the same without numbers in the name. */
  full: string;
  soft: string;
  /** Role and an attribute that the page's authors chose. */
  authored: string;
  /** Role and the named things around. */
  group: string;
  looks: string;
  near: Near;
}

/** The identity without what is costly to read. */
type Traits = Omit<Identity, "looks" | "near"> & { around: Surroundings };

/** The named things around an element, as text and as elements. */
type Surroundings = { place: string; elements: Element[]; near?: Near };
type Near = { element: WeakRef<Element>; looks: string }[];

/** An element of a walk, with the number that it had and the one that it gets. */
type Thing = Traits & { line: ElementLine; own: number | undefined; number: number };

/** An element as a caller names it. See targets.js. */
interface Wanted {
  role?: string | null;
  name?: string | null;
  near?: string | null;
}

/** Whether fields are meant, and the modal dialog that blocks the rest of the page. */
type Aim = { fields: boolean; modal: PageElement | null };

/** A line that matches: its index, its name, and how well it matches. */
type Match = { at: number; line: ElementLine; own: string; rank: number };

interface Walked {
  hosts: number[];
  moreHosts: boolean;
  whole: boolean;
}

/** A group of controls. Rust reads it in introspect. */
interface Group {
  kind: string;
  n: number;
  outer: number;
  name: string;
  hint: string;
  modal?: boolean;
  offered?: boolean;
  guessed?: boolean;
  size?: number;
  heading?: string;
  text?: string;
}

interface Groups {
  all: Group[];
  elements: PageElement[];
  panels: Set<Element>;
  of(element: PageElement): number;
  seen(element: PageElement): number;
}

/** Where a scroller was before it was moved. */
type Moved = Map<Element, { left: number; top: number }>;

/** See reach.js. */
interface Reach {
  boxes(target: PageElement): Box[];
  bounds(target: PageElement): Box;
  hasBox(target: PageElement): boolean;
  labelsOf(target: PageElement): PageElement[];
  pictureOf(area: PageElement): PageElement | null;
  hitAt(x: number, y: number): PageElement | null;
  candidates(target: PageElement): Iterable<Point>;
  inViewport(point: Point): boolean;
  bring(target: PageElement, point: () => Point, place: number | null, moved?: Moved): void;
  putBack(moved: Iterable<[Element, { left: number; top: number }]>): void;
  frameMatrix(frame: PageElement): DOMMatrix;
  centre(box: Box): Point;
  scrollingElement(document: Document): PageElement | null;
  scrollTo(element: Element, options: ScrollToOptions): void;
  scrollTop(element: Element): number;
  scrollLeft(element: Element): number;
  scrollWidth(element: Element): number;
  scrollHeight(element: Element): number;
  clientWidth(element: Element): number;
  clientHeight(element: Element): number;
}

/** What a look at an element found: where to press it, or why not and which point has to come into view. */
type Look = { ok: true; x: number; y: number; rect: Box; frame?: boolean; point?: undefined } | (Failure & { point?: () => Point });
type Ready = Omit<Extract<Look, { ok: true }>, "point"> | Failure;

/** An element that takes a value, with the properties that its kind of field has. */
type Field = HTMLElement & ControlProperties & { control?: undefined; href?: undefined; currentCSSZoom?: number; open?: undefined };
type FieldKind = "text" | "editor" | "list" | "toggle" | "picker" | "file";

type Filled =
  | Failure
  | { ok: true; how: "type" | "click" | "ready" | "done"; empty?: boolean; n?: number; shown?: string; note?: string | undefined };

interface Tabmux {
  // world.js
  document: number;
  getter<T extends object, K extends keyof T>(prototype: T, name: K): (node: T) => T[K];
  method<T extends object, K extends keyof T>(prototype: T, name: K): T[K] extends (...args: infer A) => infer R ? (node: T, ...args: A) => R : never;
  inState(element: Element, state: string): boolean;
  dom: SafeDom;
  ref(element: Element): number;
  numberOf(element: Element): number | undefined;
  assign(element: Element, number: number): void;
  release(element: Element): void;
  alias(number: number, of: number): void;
  present(number: number): PageElement | null;
  fate(number: number): "here" | "detached" | "unknown";
  closedRoot(host: Element): ShadowRoot | null;
  adoptClosedRoot(host: Element, root: ShadowRoot): void;
  adoptAround(node: Node): void;
  rootOf(host: Element): ShadowRoot | null;
  seenRoots(): ShadowRoot[];
  isElement(node: Node): node is PageElement;
  isText(node: Node): node is Text;
  slotOf(node: Node): PageElement | null;
  parentOf(node: Node): PageElement | null;
  childrenOf(node: Node): Node[];
  holds(outer: Element, inner: Node | null): boolean;
  focused(): PageElement | null;
  visible(target: Element): boolean;
  boxOf(target: Element): Box;
  describe(target: Node | null): string;
  clean(text: string): string;
  collapse(text: string): string;
  word(text: string): string;
  quote(text: string): string;

  // names.js
  roleOf(element: PageElement): string;
  nameOf(element: PageElement): string;
  labelOf(element: PageElement, role: string): Label;
  authored(element: PageElement): string;
  descriptionOf(element: PageElement): string;
  byId(root: Node, id: string): PageElement | null;
  weakLabel(element: PageElement): string;
  alternative(element: PageElement): string;
  textOf(element: PageElement, options?: { asLabel?: boolean; except?: Element | null }): string;
  shownValue(element: PageElement, role: string): string | null;
  statesOf(element: PageElement, role: string, focused?: boolean): string[];
  controlOf(element: PageElement): PageElement;
  isSecret(element: PageElement): boolean;
  isDisabled(element: PageElement): boolean;
  isField(element: Element): element is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  forgetLabels(): void;
  summaryOf(details: Element): PageElement | null;
  roles: Record<"OPERABLE" | "NAMED_BY_CONTENTS" | "STRUCTURE" | "CELLS", Set<string>>;
  namespaces: { HTML: string; SVG: string };

  // kinds.js
  kinds: {
    PLAIN: Kind;
    SEALED: Set<string>;
    readSigns(element: PageElement): Signs;
    classify(element: PageElement, tag: string, signs: Signs, place: Position, pointer: boolean, editable: boolean, verbose: boolean): Kind;
  };
  markListeners(...nodes: PageElement[]): number;

  // walk.js
  walk(emit: (line: SomeLine) => unknown, options?: { from?: PageElement | null; verbose?: boolean; isLate?: () => boolean }): Walked;
  elementsOf(numbers: number[]): (PageElement | null)[];
  adoptClosedRoots(...pairs: (Element | ShadowRoot)[]): number;

  // view.js
  snapshot(options: {
    maxBytes: number;
    depth?: number | null;
    root?: number | null;
    viewportOnly?: boolean;
    view?: Box | null;
    verbose?: boolean;
    capMs?: number;
    freeLooks?: number;
  }): object;
  find(options: { text?: string | null; role?: string | null; limit: number; maxBytes: number }): object;
  hasText(options: { texts: string[] }): { present: boolean[] };
  lineName(line: SomeLine): { text: string };
  printed(lines: SomeLine[], maxBytes: number): string[];

  // refs.js
  element(number: number): PageElement | null;
  follow(lines: SomeLine[], isLate?: () => boolean): boolean;
  record(lines: SomeLine[]): void;
  candidates(options: { n: number }): object;

  // targets.js
  targets(options: { wanted: Wanted[]; fields: boolean }): object;

  // reach.js
  reach: Reach;

  // settle.js
  settle(limits?: { quietFrames?: number; capMs?: number }): Promise<{ quiet: boolean }>;
  dropTimers(): void;
  waitForText(options: { texts: string[]; timeoutMs: number }): Promise<{ found: string | null }>;
  waitForTextGone(options: { texts: string[]; timeoutMs: number }): Promise<{ found: true | null }>;
  waitForSelector(options: { selector: string; timeoutMs: number }): Promise<{ found: string | null }>;
  isSelector(options: { selector: string }): boolean;
  scroll(options: { n?: number | null; direction: "up" | "down" | "left" | "right" | "top" | "bottom"; amount?: number | null }): object;
  title(): string;
  focusedElement(): object;
  beginWatching(): void;
  changedSince(options: { limitMs: number }): Promise<{ changed: boolean }>;

  // messages.js
  watchMessages(): void;
  passingMessages(): { texts: string[] };

  // fill.js
  fillTarget(options: { n: number; value: string; waitMs?: number }): Promise<Filled>;
  fillSecret(options: { n: number; value?: string; waitMs?: number }): Promise<Filled>;
  typeSecret(options: { value: string }): Failure | { ok: true };
  filled(options: { n: number; value: string }): Failure | { ok: true; shown?: string; note?: string | undefined };
  focusField(options: { n: number }): boolean;
  choose(options: { n: number; waitMs?: number }): Promise<Filled>;

  // act.js
  prepare(options: { n: number; waitMs?: number; evenDisabled?: boolean; once?: boolean }): Ready | Promise<Ready>;
  hitFrame(options: Point & { n: number; waitMs?: number }): Ready | Promise<Ready>;
  frameBox(options: { n: number }): Failure | { ok: true; matrix: number[] };
  visibleBox(options: { n: number }): Box | null;
  at(point: Point): { width: number; height: number; hit: string | null };
  frameAt(point: Point): { n?: number; x?: number; y?: number };
  focusedFrame(): { n?: number };
  isFrame(node: PageElement | null): node is PageElement;
  bringIntoView(options: { n: number }): Failure | { ok: true; rect: Box };
  nextFrame(patienceMs?: number): Promise<boolean>;
  unusable(target: PageElement, evenDisabled?: boolean): Failure | null;
  belongsTo(target: PageElement, hit: PageElement): boolean;
  standIns(target: PageElement): PageElement[];
  /** The frame that is drawn after `prepare` has answered at once. */
  drawnSince?: false | Promise<boolean>;

  // press.js
  aim(options: Point & { n: number; rect: Box }): Promise<Failure | { ok: true; x: number; y: number }>;
  aimFrame(options: Point & { n: number; inner: Point }): Failure | { ok: true; x: number; y: number };
  watchHover(options: { n: number }): Failure | { ok: true };
  hovered(point: Point): { ok: boolean; reason: string; detail: string };
  watchDrop(options: Point & { n: number; from?: number | null }): Failure | { ok: true };
  dropped(): { instead: string };
  watchFiles(): { accepted: boolean };
  filesAccepted(): Promise<{ accepted: boolean }>;
  endFiles(): void;
  watchPress(options: { n: number; clicks: string[] }): PressSeen | Promise<PressSeen>;
  endPress(): PressReport;
  afterPress(limits: { quietFrames?: number; capMs?: number }): Promise<PressReport & { quiet: boolean }>;

  // cover.js
  cover(options: { frames: number[] }): Promise<{ ok: boolean }>;
  uncover(): { ok: boolean };

  // groups.js
  Groups: new () => Groups;
  hintOf(element: PageElement): string;

  // survey.js
  survey(): object;
  account(): { looks: number; busyMs: number; spanMs: number };
  offeredOptions(options: { n: number; anywhere?: boolean }): { options: { n: number; text: string }[] };
  sliderAt(options: { n: number; from?: number | null }): Promise<{ at: number | null }>;
  stillHere(options: { elements: number[] }): boolean;
  isOn(options: { n: number }): { on: boolean | null };
  complaints(options: { n: number }): { told: { name: string; message: string }[] };
}

type PressSeen = { seen: boolean; hit?: boolean; instead?: string; scrolled?: boolean };
type PressReport = { clicks?: number; lost?: string; reacted?: boolean };

// What browsers have, and the compiler's library does not know yet.
interface CSSStyleDeclaration {
  readonly webkitTextSecurity?: string;
}

interface Document {
  readonly activeViewTransition?: object | null;
}

/** A press that is being watched. See press.js. */
interface PressWatch {
  target: PageElement;
  seen: boolean;
  likeness: string;
  clicks: number;
  last: Node | null;
  records: MutationRecord[];
  changes: MutationObserver | null;
  stop(): void;
}

/** Frames that are hidden while a picture is taken. See cover.js. */
interface Cover {
  hidden: { frame: PageElement; bare: boolean; properties: [name: string, value: string, priority: string][] }[];
  touched: boolean;
  observer: MutationObserver;
}
