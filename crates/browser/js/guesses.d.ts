/** The types of guesses.js. */

interface Tabmux {
  withoutIcons(text: string): string;
  isIcon(text: string): boolean;
  isLigature(element: PageElement): boolean;
  iconName(element: PageElement, anyClass?: boolean): string;
  hasTip(element: PageElement): boolean;
  swatchOf(element: PageElement): string;
  besideLabel(field: PageElement): string;
}

interface ElementLine {
  /** Its text, if that has no words. */
  icon?: string;
  /** A name that no markup gives. */
  guess?: { text: string };
}

interface AnyLine {
  /** The place of a line that a search found, if others look like it. */
  where?: string;
}
