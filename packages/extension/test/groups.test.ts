/** Groups of tabs: each agent has one, and the person's own order is left alone. */

import { beforeEach, expect, test, vi } from 'vitest';
import { Groups } from '../src/groups.js';
import type { AgentInfo } from '../src/messages.js';

let tabs: Map<number, { id: number; windowId: number; groupId: number }>;
let titles: Map<number, { title: string; color: string }>;
let stored: Record<string, unknown>;

beforeEach(() => {
  tabs = new Map([1, 2, 3, 4].map((id) => [id, { id, windowId: id < 4 ? 1 : 2, groupId: -1 }]));
  titles = new Map();
  stored = {};
  let made = 100;
  Object.assign(globalThis, {
    chrome: {
      storage: { session: { get: async () => structuredClone(stored), set: async (more: object) => Object.assign(stored, structuredClone(more)) } },
      tabs: {
        query: async () => [...tabs.values()],
        group: async ({ tabIds, groupId, createProperties }: { tabIds: number[]; groupId?: number; createProperties?: { windowId: number } }) => {
          const group = groupId ?? (made += 1);
          for (const id of tabIds) {
            if (id === 3) throw new Error('Tabs can only be moved to and from normal windows.');
            const tab = tabs.get(id);
            if (tab) Object.assign(tab, { groupId: group, windowId: createProperties?.windowId ?? tab.windowId });
          }
          if (groupId === undefined) titles.set(group, { title: '', color: 'grey' });
          return group;
        },
        ungroup: async (id: number) => void Object.assign(tabs.get(id) ?? {}, { groupId: -1 }),
      },
      tabGroups: {
        query: async () =>
          [...titles].map(([id, group]) => ({ id, ...group })).filter(({ id }) => [...tabs.values()].some((tab) => tab.groupId === id)),
        update: async (id: number, group: { title: string; color: string }) => void titles.set(id, group),
      },
    },
  });
});

const agent = (session: string, name: string, own: number[], others: number[] = []): AgentInfo => ({
  session,
  name,
  colour: 'blue',
  here: true,
  connected: true,
  follows: false,
  tabs: [...own.map((tabId) => ({ tabId, own: true, bound: true })), ...others.map((tabId) => ({ tabId, own: false, bound: true }))],
  moreTabs: 0,
  doing: [],
  moreDoing: 0,
});
const where = (): Record<number, string> => Object.fromEntries([...tabs.values()].map(({ id, groupId }) => [id, titles.get(groupId)?.title ?? '']));

test("what was opened for an agent is in its group, and what is the person's is not", async () => {
  await new Groups().arrange([agent('a', 'A', [1], [2]), agent('b', 'B', [4])]);
  expect(where()).toEqual({ 1: 'A', 2: '', 3: '', 4: 'B' });
  expect(tabs.get(4)?.windowId).toBe(2);
});

test('a new worker finds the groups of the one before, under whichever name the agent has then', async () => {
  await new Groups().arrange([agent('a', 'A', [1])]);
  await new Groups().arrange([agent('a', 'A · 2', [1, 2])]);
  expect(where()).toEqual({ 1: 'A · 2', 2: 'A · 2', 3: '', 4: '' });
  expect(titles.size).toBe(1);
});

test('without memory a group is known by its name', async () => {
  await new Groups().arrange([agent('a', 'A', [1])]);
  stored = {};
  await new Groups().arrange([agent('x', 'A', [1, 2])]);
  expect(titles.size).toBe(1);
  expect(where()).toEqual({ 1: 'A', 2: 'A', 3: '', 4: '' });
});

test('where the person moves a tab it stays, and a tab that is taken back leaves the group', async () => {
  const groups = new Groups();
  await groups.arrange([agent('a', 'A', [1, 2])]);
  Object.assign(tabs.get(1) ?? {}, { groupId: -1 });
  await groups.arrange([agent('a', 'A', [1, 2])]);
  expect(where()).toEqual({ 1: '', 2: 'A', 3: '', 4: '' });
  await groups.release(2);
  await groups.release(4);
  expect(where()).toEqual({ 1: '', 2: '', 3: '', 4: '' });
});

test('a tab that Chrome does not group stays where it is, once and for all', async () => {
  const groups = new Groups();
  await groups.arrange([agent('a', 'A', [3, 1])]);
  expect(where()).toEqual({ 1: 'A', 2: '', 3: '', 4: '' });
});

test('what Chrome does not let anybody do right now is done a moment later', async () => {
  vi.useFakeTimers();
  const { group } = chrome.tabs;
  const refuse = () => Promise.reject(new Error('Tabs cannot be edited right now (user may be dragging a tab).'));
  Object.assign(chrome.tabs, { group: refuse });
  const groups = new Groups();
  await groups.arrange([agent('a', 'A', [1, 3])]);
  await vi.advanceTimersByTimeAsync(600);
  expect(where()).toEqual({ 1: '', 2: '', 3: '', 4: '' });
  Object.assign(chrome.tabs, { group });
  await vi.advanceTimersByTimeAsync(600);
  expect(where()).toEqual({ 1: 'A', 2: '', 3: '', 4: '' });
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
