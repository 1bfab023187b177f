/** The side panel: shows who works here, and passes on what the person wants. It knows nothing that it is not told. */

import { FrontTab, knownTabs, type ShownTab } from './panel-tabs.js';
import { type FromPanel, type Overview, PANEL, type ToPanel } from './panels.js';
import { agentRow, fill, find, frontCard, words } from './panel-view.js';

type State = Extract<ToPanel, { type: 'state' }>;

let state: State | undefined;
let port: chrome.runtime.Port | undefined;
let drawing = Promise.resolve();
const front = new FrontTab(redraw);

find('pause', HTMLButtonElement).addEventListener('click', () => want({ type: state?.overview?.paused ? 'resume' : 'pause' }));
connect();
setInterval(() => state?.overview?.agents.some(({ doing }) => doing.length > 0) && redraw(), 1_000);

/** Chrome ends the worker when it likes; to connect starts it again. */
function connect(): void {
  port = chrome.runtime.connect({ name: PANEL });
  port.onMessage.addListener((message: ToPanel) => {
    if (message.type === 'denied') return notice(message.reason);
    state = message;
    redraw();
  });
  port.onDisconnect.addListener(() => {
    state = { type: 'state', connected: false, why: 'Looking for tabmux on this machine.', overview: undefined };
    redraw();
    setTimeout(connect, RETRY);
  });
}

function want(wish: FromPanel): void {
  notice('');
  port?.postMessage(wish);
}

function notice(reason: string): void {
  const place = find('notice', HTMLElement);
  place.hidden = reason === '';
  place.textContent = reason;
}

/** Draws what is known now. One after the other, because tabs are asked for between. */
function redraw(): void {
  drawing = drawing.then(draw);
}

async function draw(): Promise<void> {
  if (!state) return;
  const { connected, why, overview } = state;
  const tabs = await knownTabs(overview?.agents.flatMap((agent) => agent.tabs.map(({ tabId }) => tabId)) ?? []);
  const inFront = await front.tab();
  drawLink(connected, why, overview);
  drawFront(overview, inFront);
  const agents = overview?.agents ?? [];
  find('agents', HTMLElement).hidden = agents.length === 0;
  fill(
    find('agent-list', HTMLElement),
    agents.map((agent) => ({ key: agent.session, agent })),
    agentRow,
    (row, { agent }) => row.show(agent, { tabs, front: inFront?.id, paused: overview?.paused === true, want }),
  );
  const more = find('agents-more', HTMLElement);
  more.hidden = !overview?.moreAgents;
  more.textContent = `And ${overview?.moreAgents ?? 0} more.`;
  drawEmpty(connected, overview);
}

function drawLink(connected: boolean, why: string, overview: Overview | undefined): void {
  const link = find('link', HTMLElement);
  link.className = !connected ? 'away' : overview?.paused ? 'paused' : 'connected';
  words('link-words', !connected ? 'Not connected' : overview?.paused ? 'Connected, paused' : 'Connected');
  words('paused', overview?.paused ? 'All agents are paused. What they try is refused until you resume.' : '');
  link.title = connected ? '' : why;
  const pause = find('pause', HTMLButtonElement);
  pause.hidden = !connected || !overview || (overview.agents.length === 0 && !overview.paused);
  if (!pause.hidden) pause.textContent = overview?.paused ? 'Resume all' : 'Pause all';
}

function drawFront(overview: Overview | undefined, tab: ShownTab | undefined): void {
  const section = find('front', HTMLElement);
  section.hidden = !overview || overview.agents.length === 0 || !tab;
  if (overview && tab) frontCard(section, overview, tab, want);
}

function drawEmpty(connected: boolean, overview: Overview | undefined): void {
  find('empty', HTMLElement).hidden = connected && (!overview || overview.agents.length > 0);
  words('empty-title', connected ? 'No agent is connected.' : 'tabmux is not connected.');
  const hint = 'An agent appears here as soon as it starts tabmux. “tabmux install” in a terminal tells your agents about it.';
  words('empty-words', connected ? hint : (state?.why ?? ''));
}

const RETRY = 200;
