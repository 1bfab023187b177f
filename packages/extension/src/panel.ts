/** The side panel: shows the agents, and sends the user's requests to the worker. It keeps no state of its own. */

import { fill, find, words } from './panel-parts.js';
import { Questions } from './panel-questions.js';
import { Sites } from './panel-rules.js';
import { FrontTab, knownTabs, type ShownTab } from './panel-tabs.js';
import { agentRow, frontCard } from './panel-view.js';
import { type FromPanel, type Overview, PANEL, type ToPanel } from './panels.js';

type State = Extract<ToPanel, { type: 'state' }>;

let state: State | undefined;
let port: chrome.runtime.Port | undefined;
let drawing = Promise.resolve();
const front = new FrontTab(redraw);
const questions = new Questions(want, redraw);
const sites = new Sites(want, post);

find('pause', HTMLButtonElement).addEventListener('click', () => want({ type: state?.overview?.paused ? 'resume' : 'pause' }));
connect();
setInterval(() => isTimeShown() && redraw(), 1_000);

function isTimeShown(): boolean {
  const { agents = [], questions = [] } = state?.overview ?? {};
  return questions.length > 0 || agents.some(({ doing }) => doing.length > 0);
}

/** Chrome may stop the worker at any time. Connecting starts it again. */
function connect(): void {
  port = chrome.runtime.connect({ name: PANEL });
  port.onMessage.addListener((message: ToPanel) => {
    if (message.type === 'denied') return notice(message.reason);
    if (message.type === 'site') sites.heard(message.site);
    else state = message;
    redraw();
  });
  port.onDisconnect.addListener(() => {
    sites.forget();
    state = { type: 'state', connected: false, why: 'Looking for tabmux on this machine.', overview: undefined };
    redraw();
    setTimeout(connect, RETRY);
  });
}

/** Sends a request of the user. */
function want(wish: FromPanel): void {
  notice(post(wish) ? '' : 'tabmux is being looked for, so nothing was changed. Try again in a moment.');
}

/** Sends a message to the worker. Returns false if the worker is not running. */
function post(wish: FromPanel): boolean {
  try {
    port?.postMessage(wish);
    return port !== undefined;
  } catch {
    return false; // Chrome has stopped the worker. The next one sends the whole state again.
  }
}

function notice(reason: string): void {
  const place = find('notice', HTMLElement);
  place.hidden = reason === '';
  place.textContent = reason;
}

/** Draws the present state. Calls run one after the other, because they wait for Chrome's list of tabs. */
function redraw(): void {
  drawing = drawing.then(draw).catch((error: unknown) => console.error(error));
}

async function draw(): Promise<void> {
  if (!state) return;
  const { connected, why, overview } = state;
  if (!overview) sites.forget();
  const tabs = await knownTabs(overview?.agents.flatMap((agent) => agent.tabs.map(({ tabId }) => tabId)) ?? []);
  const inFront = await front.tab();
  const knowsPrivate = await chrome.extension.isAllowedIncognitoAccess();
  drawLink(connected, why, overview);
  const agents = overview?.agents ?? [];
  questions.draw(overview?.questions ?? [], new Map(agents.map(({ session, colour }) => [session, colour])));
  drawFront(overview, inFront);
  sites.drawRules(overview?.rules, knowsPrivate);
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
  words('paused', overview?.paused ? 'All agents are paused. Their calls are refused until you resume.' : '');
  link.title = connected ? '' : why;
  const pause = find('pause', HTMLButtonElement);
  pause.hidden = !connected || !overview || (overview.agents.length === 0 && !overview.paused);
  if (!pause.hidden) pause.textContent = overview?.paused ? 'Resume all' : 'Pause all';
}

function drawFront(overview: Overview | undefined, tab: ShownTab | undefined): void {
  const section = find('front', HTMLElement);
  section.hidden = !overview || !tab || (overview.agents.length === 0 && tab.origin === undefined);
  if (overview && tab) frontCard(section, overview, tab, want);
  sites.drawSite(overview?.rules, tab);
}

function drawEmpty(connected: boolean, overview: Overview | undefined): void {
  find('empty', HTMLElement).hidden = connected && (!overview || overview.agents.length > 0);
  words('empty-title', connected ? 'No agent is connected.' : 'tabmux is not connected.');
  const hint = 'An agent appears here as soon as it starts tabmux. Run “tabmux install” in a terminal to add tabmux to your agents.';
  words('empty-words', connected ? hint : (state?.why ?? ''));
}

const RETRY = 200;
