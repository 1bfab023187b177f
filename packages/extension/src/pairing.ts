/** The secret of this user, and the proofs made with it. `docs/protocol.md` explains them. */

import { PROTOCOL } from './messages.js';

export interface Pairing {
  /** 64 hex digits. */
  secret: string;
  port: number;
  /** The user's name for the profile that loads this extension. */
  name?: string | null;
}

/** What `tabmux extension install` wrote next to this script. It is read each time, because it may change. */
export async function pairing(): Promise<Pairing> {
  const answer = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
  return (await answer.json()) as Pairing;
}

/** The id of this installation. It does not change. */
export async function instance(): Promise<string> {
  const known = (await chrome.storage.local.get('instance'))['instance'];
  if (typeof known === 'string') return known;
  const made = freshNonce().slice(0, 32);
  await chrome.storage.local.set({ instance: made });
  return made;
}

/**
 * The name of this profile. Several profiles may load the same folder, and the name in it may change, so each profile keeps
 * the name that it found there first.
 */
export async function ownName(found: string | null | undefined): Promise<string | undefined> {
  const kept = await keptName();
  if (kept === undefined) await chrome.storage.local.set({ name: found ?? '' });
  return (kept ?? found) || undefined;
}

/**
 * Takes the name that the folder has now, because the user has reloaded the extension. Returns whether the name has changed.
 * After an update the name is kept, because an update reaches all profiles.
 */
export async function takeName(found: string | null | undefined, why: { reason: string; previousVersion?: string }): Promise<boolean> {
  const isReload = why.reason === 'update' && why.previousVersion === chrome.runtime.getManifest().version;
  const kept = await keptName();
  if (!isReload || kept === undefined || kept === (found ?? '')) return false;
  await chrome.storage.local.set({ name: found ?? '' });
  return true;
}

async function keptName(): Promise<string | undefined> {
  const kept = (await chrome.storage.local.get('name'))['name'];
  return typeof kept === 'string' ? kept : undefined;
}

/** 256 random bits. */
export function freshNonce(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

export async function prove(
  secret: string,
  role: 'daemon' | 'extension',
  nonces: { extension: string; daemon: string },
  host: string,
): Promise<string> {
  const bytes = Uint8Array.from(secret.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const text = [`tabmux ${PROTOCOL}`, role, nonces.extension, nonces.daemon, chrome.runtime.id, host].join('\n');
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
