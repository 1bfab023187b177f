/** The examples in docs/page-protocol.md, which every message on the websocket has to look like. */

import { readFileSync } from 'node:fs';
import { isRecord, type JsonObject } from '../../src/json.js';

const text = readFileSync(new URL('../../../../docs/page-protocol.md', import.meta.url), 'utf8');

/** The documented messages. */
export const examples: JsonObject[] = [...text.matchAll(/```json\n(.*?)\n```/gs)].map(([, json = '']) => JSON.parse(json));

/** What of a message is not as documented; empty if all is well. */
export function complaint(message: JsonObject): string {
  const alike = examples.filter((example) => example['type'] === message['type']);
  if (alike.length === 0) return `${String(message['type'])} is not documented`;
  const complaints = alike.map((example) => differences(example, message));
  return complaints.includes('') ? '' : complaints.join(' / ');
}

function differences(example: JsonObject, message: JsonObject): string {
  const problems: string[] = [];
  for (const key of new Set([...Object.keys(example), ...Object.keys(message)])) {
    if (!(key in example)) problems.push(`${key} is not documented`);
    else if (!(key in message)) problems.push(...(OPTIONAL.has(key) ? [] : [`${key} is missing`]));
    else if (kind(example[key]) !== kind(message[key]) && !(key === 'tabId' && message[key] === null)) problems.push(`${key} is of another kind`);
    else if (key === 'success' && example[key] !== message[key]) problems.push('another case');
  }
  return problems.join(', ');
}

function kind(value: unknown): string {
  return isRecord(value) ? 'object' : value === null ? 'null' : typeof value;
}

const OPTIONAL = new Set(['nonce', 'outputSchema', 'annotations']);
