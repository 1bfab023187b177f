/** How the panel shows the agents and the active tab. */

import type { AgentInfo, Doing } from './messages.js';
import { fill, fillActs, find, make, put, type Row, words } from './panel-parts.js';
import type { ShownTab } from './panel-tabs.js';
import { frontWords, tabsWords } from './panel-words.js';
import type { FromPanel, Overview } from './panels.js';

export type Want = (wish: FromPanel) => void;

interface Around {
  tabs: Map<number, ShownTab>;
  front: number | undefined;
  paused: boolean;
  want: Want;
}

/** One agent: its name, what it does now, and its tabs. */
export function agentRow(): Row<[AgentInfo, Around]> {
  const element = make('li', 'agent card');
  const head = make('div', 'head');
  const [dot, name, doing] = [make('span', 'dot'), make('span', 'title'), make('p', 'doing')];
  const [tabs, none] = [make('ul', 'tabs'), make('p', 'none')];
  dot.ariaHidden = 'true';
  name.dir = 'auto';
  head.append(dot, name);
  const [follow, follows, followWords] = [make('label', 'follow'), make('input', 'switch'), make('span', '')];
  follows.type = 'checkbox';
  follows.role = 'switch';
  followWords.textContent = 'Follows you from tab to tab';
  follow.append(follows, followWords);
  element.append(head, doing, tabs, none, follow);
  let turn: ((follows: boolean) => void) | undefined;
  follows.addEventListener('change', () => turn?.(follows.checked));
  return {
    element,
    show(agent, around) {
      follow.hidden = !agent.here;
      follows.checked = agent.follows;
      follows.ariaLabel = `${agent.name} follows you from tab to tab`;
      const { session } = agent;
      const front = around.front === undefined ? {} : { tabId: around.front };
      turn = (follows) => around.want({ type: 'follow', session, follows, ...front });
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
      const more = tabsWords(shown.length, agent.moreTabs, agent);
      none.hidden = more === '';
      put(none, more);
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

/** The active tab: which agents work in it, and what the user can do about it. */
export function frontCard(section: HTMLElement, { agents, paused, rules }: Overview, tab: ShownTab, want: Want): void {
  const [title, place, acts] = [find('front-page', HTMLElement), find('front-place', HTMLElement), find('front-acts', HTMLElement)];
  const card = section.querySelector('.card');
  title.dir = 'auto';
  put(title, tab.title);
  title.title = tab.title;
  put(place, tab.place);
  const holders = agents.filter(({ tabs }) => tabs.some(({ tabId }) => tabId === tab.id));
  // Some tools work in a tab that their agent does not own.
  const acting = agents.filter(({ doing }) => doing.some(({ tabId }) => tabId === tab.id));
  const [active] = acting;
  const [holder] = holders;
  const watched = active ?? holder;
  if (card) card.className = watched ? `card watched ${active ? 'acting ' : ''}${watched.colour}` : 'card';
  const closed = !tab.open
    ? 'Chrome does not let extensions work in it.'
    : tab.isPrivate && !rules.privateWindows
      ? 'it is in a private window.'
      : '';
  words('front-state', frontWords(acting, holders, closed, paused));
  const takers = agents.filter((agent) => agent.here && agent !== holder);
  const gifts = closed ? [] : takers;
  fillActs(acts, [
    ...(holder ? [{ key: 'back', text: 'Take it back', act: () => want({ type: 'takeBack', tabId: tab.id }) }] : []),
    ...gifts.map((agent) => ({
      key: agent.session,
      text: `Give it to ${agent.name}`,
      act: () => want({ type: 'give', tabId: tab.id, session: agent.session }),
    })),
  ]);
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
