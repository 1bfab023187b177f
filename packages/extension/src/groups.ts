/**
 * Puts the tabs that were opened for an agent into a group with its name and colour. A tab is put there once: if the
 * user moves it later, it stays where the user put it. The state survives a restart of the worker, but not of the browser.
 */

import type { AgentInfo } from './messages.js';

interface Known {
  /** By session: the group, with the name and colour that we gave it last. */
  groups: Record<string, { id: number; name: string; colour: string }>;
  /** The tabs that were put into a group. */
  placed: number[];
}

export class Groups {
  #turn: Promise<void> = Promise.resolve();
  #wanted: AgentInfo[] | undefined;

  /** Puts every agent's tabs into its group. Of several calls in a row, only the last one counts. */
  arrange(agents: AgentInfo[], tries = MOST_TRIES): Promise<void> {
    this.#wanted = agents;
    this.#turn = this.#turn.then(async () => {
      const wanted = this.#wanted;
      this.#wanted = undefined;
      if (!wanted || (await arrange(wanted).catch(() => false))) return;
      // Chrome refuses changes to its tabs while the user drags one, so try again, unless there is a newer call.
      setTimeout(() => this.#wanted === undefined && tries > 1 && void this.arrange(wanted, tries - 1), PAUSE);
    });
    return this.#turn;
  }

  /** Takes a tab out of its agent's group: it is the user's now. Chrome removes a group without tabs. */
  async release(tabId: number): Promise<void> {
    await this.#turn;
    const { placed } = await read();
    if (placed.includes(tabId)) await chrome.tabs.ungroup(tabId).catch(() => undefined);
  }
}

/** Puts the tabs into groups. Returns false if Chrome refused some of them. */
async function arrange(agents: AgentInfo[]): Promise<boolean> {
  let isDone = true;
  const before = await read();
  const present = new Map((await chrome.tabs.query({})).map((tab) => [tab.id ?? -1, tab]));
  const placed = new Set(before.placed.filter((id) => present.has(id)));
  const groups: Known['groups'] = {};
  const living = new Map((await chrome.tabGroups.query({})).map((group) => [group.id, group]));
  for (const [session, group] of Object.entries(before.groups)) if (living.has(group.id)) groups[session] = group;
  for (const agent of agents) {
    const own = agent.tabs.flatMap(({ tabId, own }) => (own ? (present.get(tabId) ?? []) : []));
    const fresh = own.filter((tab) => !placed.has(tab.id ?? -1));
    // After the extension was reloaded, a group is recognised by its name and its tabs.
    const known = groups[agent.session]?.id ?? own.map((tab) => tab.groupId).find((id) => living.get(id)?.title === agent.name);
    const { id, left } = await put(fresh, known);
    for (const tab of fresh) if (!left.has(tab.id ?? -1)) placed.add(tab.id ?? -1);
    isDone &&= left.size === 0;
    if (id === undefined) continue;
    const group = groups[agent.session];
    if (group?.id !== id || group.name !== agent.name || group.colour !== agent.colour) {
      await chrome.tabGroups.update(id, { title: agent.name, color: agent.colour });
      groups[agent.session] = { id, name: agent.name, colour: agent.colour };
    }
  }
  const after: Known = { groups, placed: [...placed] };
  if (JSON.stringify(after) !== JSON.stringify(before)) await chrome.storage.session.set({ groups: after });
  return isDone;
}

/** Puts tabs into a group, a new one if there is none. A tab that cannot be in a group, such as a popup's, stays where it is. */
async function put(tabs: chrome.tabs.Tab[], known: number | undefined): Promise<{ id: number | undefined; left: Set<number> }> {
  let group = known;
  const left = new Set<number>();
  for (const { id, windowId } of tabs) {
    if (id === undefined) continue;
    // Otherwise Chrome would make the group in the window in front, and move the tab there.
    const where = group === undefined ? { createProperties: { windowId } } : { groupId: group };
    try {
      group = await chrome.tabs.group({ tabIds: [id], ...where });
    } catch (error) {
      if (!NO_PLACE.test(String(error))) left.add(id);
    }
  }
  return { id: group, left };
}

async function read(): Promise<Known> {
  const { groups } = await chrome.storage.session.get('groups');
  return (groups as Known | undefined) ?? { groups: {}, placed: [] };
}

/** Chrome's error for tabs in windows that have no groups. */
const NO_PLACE = /normal windows/;
const MOST_TRIES = 10;
const PAUSE = 500;
