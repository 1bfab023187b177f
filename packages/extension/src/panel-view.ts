/** The parts of the panel. Elements stay while what they show changes, so that the keyboard's place is not lost. */

import type { AgentInfo, Doing } from './messages.js';
import type { ShownTab } from './panel-tabs.js';
import type { FromPanel, Overview } from './panels.js';

type Want = (wish: FromPanel) => void;

/** An element that stays. */
interface Kept {
  element: HTMLElement;
}

/** One that can be brought up to date. */
interface Row<T extends unknown[]> extends Kept {
  show(...news: T): void;
}

interface Around {
  tabs: Map<number, ShownTab>;
  front: number | undefined;
  paused: boolean;
  want: Want;
}

export function find<T extends HTMLElement>(id: string, kind: abstract new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`There is no ${id}.`);
  return element;
}

/** Changes a text only if it is another one, so that it is not read out again. */
export function words(id: string, text: string): void {
  put(find(id, HTMLElement), text);
}

const rows = new WeakMap<Element, { key: string; row: Kept }>();

/** Makes a list show these, in this order. */
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

/** One agent: who, what now, where. */
export function agentRow(): Row<[AgentInfo, Around]> {
  const element = make('li', 'agent card');
  const head = make('div', 'head');
  const [dot, name, doing] = [make('span', 'dot'), make('span', 'title'), make('p', 'doing')];
  const [tabs, none] = [make('ul', 'tabs'), make('p', 'none')];
  dot.ariaHidden = 'true';
  name.dir = 'auto';
  head.append(dot, name);
  element.append(head, doing, tabs, none);
  return {
    element,
    show(agent, around) {
      const busy = agent.doing.length > 0;
      element.className = `agent card ${agent.colour}${busy ? ' busy' : ''}`;
      put(name, agent.name);
      doing.className = busy ? 'doing busy' : 'doing';
      put(doing, busy ? doings(agent) : around.paused ? 'Paused' : 'Waiting for its next call');
      const shown = agent.tabs.filter(({ tabId }) => around.tabs.has(tabId));
      fill(
        tabs,
        shown.map((tab) => ({ key: String(tab.tabId), tab })),
        tabRow,
        (row, { tab }) => row.show(around.tabs.get(tab.tabId), tab.own, around),
      );
      none.hidden = shown.length > 0 && agent.moreTabs === 0;
      put(none, agent.moreTabs > 0 ? `And ${agent.moreTabs} more tabs.` : agent.here ? 'It has no tab here yet.' : 'It works in another browser.');
    },
  };
}

function tabRow(): Row<[ShownTab | undefined, boolean, Around]> {
  const element = make('li', 'tab');
  const show = make('button', 'show');
  const back = make('button', 'back');
  const [title, place] = [make('span', 'title'), make('span', 'place')];
  title.dir = 'auto';
  show.append(title, place);
  show.type = back.type = 'button';
  back.textContent = 'Take back';
  element.append(show, back);
  let acts: { show: () => void; back: () => void } | undefined;
  show.addEventListener('click', () => acts?.show());
  back.addEventListener('click', () => acts?.back());
  return {
    element,
    show(tab, own, { front, want }) {
      if (!tab) return;
      put(title, tab.title);
      const where = [tab.id === front ? 'in front' : '', own ? '' : 'yours', tab.place];
      put(place, where.filter(Boolean).join(' · '));
      show.title = tab.title;
      back.ariaLabel = `Take back ${tab.title}`;
      acts = { show: () => void bringToFront(tab), back: () => want({ type: 'takeBack', tabId: tab.id }) };
    },
  };
}

/** The tab that the person looks at: says plainly if somebody works in it, and offers what can be done. */
export function frontCard(section: HTMLElement, { agents, paused }: Overview, tab: ShownTab, want: Want): void {
  const [title, place, acts] = [find('front-page', HTMLElement), find('front-place', HTMLElement), find('front-acts', HTMLElement)];
  const card = section.querySelector('.card');
  title.dir = 'auto';
  put(title, tab.title);
  title.title = tab.title;
  put(place, tab.place);
  const holders = agents.filter(({ tabs }) => tabs.some(({ tabId }) => tabId === tab.id));
  const [holder] = holders;
  if (card) card.className = holder ? `card watched ${holder.colour}` : 'card';
  words('front-state', frontWords(holders, tab, paused));
  const takers = agents.filter((agent) => agent.here && agent !== holder);
  const gifts = tab.open ? takers : [];
  fill(
    acts,
    [
      ...(holder ? [{ key: 'back', text: 'Take it back', act: () => want({ type: 'takeBack', tabId: tab.id }) }] : []),
      ...gifts.map((agent) => ({
        key: agent.session,
        text: `Give it to ${agent.name}`,
        act: () => want({ type: 'give', tabId: tab.id, session: agent.session }),
      })),
    ],
    actButton,
    (row, { text, act }) => row.show(text, act),
  );
}

function frontWords(holders: AgentInfo[], tab: ShownTab, paused: boolean): string {
  const active = holders.find(({ doing }) => doing.some(({ tabId }) => tabId === tab.id));
  if (active) return `${active.name} is acting in this tab right now.`;
  if (holders.length > 0) return `${holders.map(({ name }) => name).join(' and ')} ${holders.length > 1 ? 'work' : 'works'} in this tab${paused ? ', and is paused' : ''}.`;
  return tab.open ? 'No agent works in this tab.' : 'No agent can work in this tab: Chrome keeps extensions out of it.';
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

function doings({ doing, moreDoing }: AgentInfo): string {
  const more = doing.length - 1 + moreDoing;
  const [first] = doing;
  return first ? `${first.tool} · ${elapsed(first)}${more > 0 ? ` · and ${more} more` : ''}` : '';
}

function elapsed({ since }: Doing): string {
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1_000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

async function bringToFront(tab: ShownTab): Promise<void> {
  await chrome.tabs.update(tab.id, { active: true }).catch(() => undefined);
  await chrome.windows.update(tab.windowId, { focused: true }).catch(() => undefined);
}

function make<K extends keyof HTMLElementTagNameMap>(tag: K, className: string): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
