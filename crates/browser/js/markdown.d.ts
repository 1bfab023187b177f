/** The types of the scripts behind `read_page`: markdown.js and markdown_text.js. */

interface Tabmux {
  // walk.js
  mayHide(node: Node): boolean;
  unseen: Set<string>;
  mayHost: Set<string>;

  // view.js
  title(): string;

  // markdown.js
  markdown(options: { root?: number | null }): object;

  // markdown_text.js
  MainParts: new () => {
    begin(tag: string, role: string, line: number): void;
    text(length: number): void;
    end(line: number): void;
    marks(lines: number): number[];
  };
  MarkdownTable: new () => MarkdownTable;
  markdownText: {
    START: string;
    MIDDLE: string;
    END: string;
    escapeText(text: string): string;
    atLineStart(line: string): string;
    tidy(text: string): string;
    onOneLine(text: string): string;
    plainLength(text: string): number;
    longestRun(code: string): number;
    addressOf(link: PageElement): string;
    languageOf(pre: PageElement): string;
    headingLevel(element: PageElement, tag: string, role: string): number;
    isTable(element: PageElement, tag: string, role: string): boolean;
    isClipped(element: PageElement, style: CSSStyleDeclaration): boolean;
    fieldText(field: PageElement, tag: string): string;
  };
}

/** How text is written: as blocks, on one line, in a cell of a table, or as it is. */
type MarkdownMode = "flow" | "line" | "cell" | "code";

/** A quote or an item of a list, which its lines begin with. */
interface MarkdownHolder {
  up: MarkdownHolder | null;
  quote: boolean;
  item: boolean;
  marker: string;
  used: boolean;
}

interface MarkdownTable {
  row: string[] | null;
  caption: string;
  beginRow(): void;
  cell(cell: PageElement, text: string): void;
  endRow(): void;
  lines(): string[];
}

/** A position on the stack, with the children that are still to be visited and what follows them. */
interface MarkdownPlace {
  mode: MarkdownMode;
  holder: MarkdownHolder | null;
  shown: boolean;
  table: MarkdownTable | null;
  list: { next: number | null; step: number } | null;
  next: ChildNode | null;
  nodes: Node[] | null;
  at: number;
  leave: (() => void) | null;
}

/** An open link: where its text begins, and whether it was written. */
interface MarkdownLink {
  element: PageElement;
  address: string;
  at: number;
  done: boolean;
}

interface MainPart {
  kind: string;
  start: number;
  end: number;
  score: number;
  beside: boolean;
}
