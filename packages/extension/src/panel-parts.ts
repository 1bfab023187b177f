/** Helpers to draw the panel. Elements are updated and not replaced, so that the keyboard focus is not lost. */

/** An element that is updated in place. */
export interface Kept {
  element: HTMLElement;
}

/** An element with a function that updates it. */
export interface Row<T extends unknown[]> extends Kept {
  show(...news: T): void;
}

export function find<T extends HTMLElement>(id: string, kind: abstract new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`There is no ${id}.`);
  return element;
}

/** Sets a text only if it has changed, so that a screen reader does not read it again. */
export function words(id: string, text: string): void {
  put(find(id, HTMLElement), text);
}

const rows = new WeakMap<Element, { key: string; row: Kept }>();

/** Makes a list show these items, in this order. */
export function fill<R extends Kept, I extends { key: string }>(list: HTMLElement, items: I[], make: () => R, show: (row: R, item: I) => void): void {
  const known = new Map(Array.from(list.children, (child) => [rows.get(child)?.key, child]));
  let next = list.firstElementChild;
  for (const item of items) {
    const element = known.get(item.key);
    known.delete(item.key);
    const row = element ? (rows.get(element)?.row as R) : make();
    if (!element) rows.set(row.element, { key: item.key, row });
    show(row, item);
    if (row.element === next) next = next.nextElementSibling;
    else list.insertBefore(row.element, next);
  }
  for (const gone of known.values()) gone.remove();
}

/** Buttons that are shown only in some states. */
export interface Act {
  key: string;
  text: string;
  act: () => void;
}

export function fillActs(place: HTMLElement, acts: Act[]): void {
  fill(place, acts, actButton, (row, { text, act }) => row.show(text, act));
}

function actButton(): Row<[string, () => void]> {
  const element = make('button', '');
  element.type = 'button';
  let press: (() => void) | undefined;
  element.addEventListener('click', () => press?.());
  return {
    element,
    show(text, act) {
      put(element, text);
      press = act;
    },
  };
}

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

export function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** One line of limited length, without characters that change the text direction or are invisible. */
export function plain(text: string, limit = 200): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}
