/** The size of a message, and a short version of one that is too large to be sent. */

/** The size of a value as JSON, if it is more than `most` bytes. A value that is far too large is not serialised for this. */
export function excess(value: unknown, most: number): number | undefined {
  const texts = lengthOfTexts(value, most);
  if (texts > most) return texts;
  const text = JSON.stringify(value) ?? '';
  if (text.length * 3 <= most) return undefined;
  const bytes = new TextEncoder().encode(text).length;
  return bytes > most ? bytes : undefined;
}

/** The numbers and short texts in an object and in the objects right inside it; enough to see what it was about. */
export function smallParts(value: unknown, depth = 2): Record<string, unknown> {
  const entries = Object.entries(value ?? {}).slice(0, MOST_PARTS);
  const kept = entries.flatMap(([name, part]): [string, unknown][] => {
    if (typeof part === 'string') return part.length <= LONGEST_PART ? [[name, part]] : [];
    if (typeof part !== 'object') return [[name, part]];
    return depth > 1 && part !== null && !Array.isArray(part) ? [[name, smallParts(part, depth - 1)]] : [];
  });
  return Object.fromEntries(kept);
}

/** The number of characters of all texts. Counting stops when the limit is passed. */
function lengthOfTexts(value: unknown, most: number): number {
  let length = 0;
  const waiting = [value];
  while (waiting.length > 0 && length <= most) {
    const next = waiting.pop();
    if (typeof next === 'string') length += next.length;
    else if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) waiting.push(part);
  }
  return length;
}

const MOST_PARTS = 30;
const LONGEST_PART = 2000;
