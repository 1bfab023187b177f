/** The types of shown.js: where the page shows a text. */

interface Tabmux {
  shownText(): { text: string; title: string; isTooLong: boolean; x: number; y: number };
  shownBoxes(options: { parts: [start: number, end: number][] }): { boxes: Box[]; areTooMany: boolean };
}

/** A node with text, and where that is in the text of the document. */
interface ShownPiece {
  node: Node;
  start: number;
  end: number;
  /** Whether the node counts as a whole. */
  isWhole: boolean;
}
