/** The secret of this user, and the proofs made with it. `docs/protocol.md` tells how. */

import { PROTOCOL } from './messages.js';

export interface Pairing {
  /** 64 hex digits. */
  secret: string;
  port: number;
  /** What people call the profile that loads this. */
  name?: string | null;
}

/** What `tabmux extension install` wrote beside this script; read anew each time, because it may change. */
export async function pairing(): Promise<Pairing> {
  const answer = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
  return (await answer.json()) as Pairing;
}

/** The name of this installation, the same as long as it is there. */
export async function instance(): Promise<string> {
  const known = (await chrome.storage.local.get('instance'))['instance'];
  if (typeof known === 'string') return known;
  const made = freshNonce().slice(0, 32);
  await chrome.storage.local.set({ instance: made });
  return made;
}

/**
 * What this profile is called. Several may load one folder, under one name after the other, so each keeps the name
 * that it found there first.
 */
export async function ownName(found: string | null | undefined): Promise<string | undefined> {
  const kept = await keptName();
  if (kept === undefined) await chrome.storage.local.set({ name: found ?? '' });
  return (kept ?? found) || undefined;
}

/**
 * Takes the name that the folder holds now, because the person has loaded the extension anew. Says whether it is another.
 * An update is no such wish: it comes to all profiles.
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

/** 256 bits that nobody has ever seen. */
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
