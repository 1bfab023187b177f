/**
 * The service worker: keeps the connection to the daemon, and does what the daemon says with tabs. Chrome may end it at any
 * moment and start it again with the next event, so it keeps nothing that it cannot find out anew.
 */

import { Badge } from './badge.js';
import { browserInfo } from './browser.js';
import { Fresh } from './fresh.js';
import { Groups } from './groups.js';
import type { ToExtension } from './messages.js';
import { Link } from './link.js';
import { pairing, takeName } from './pairing.js';
import { type FromPanel, Panels, WISHES } from './panels.js';
import { Pause } from './pause.js';
import { Relays } from './relays.js';
import { Tabs } from './tabs.js';
import { Tunnel } from './tunnel.js';

const link = new Link({ pairing, show, welcome, hear, lost, alone: () => wake(SELDOM) });
const tabs = new Tabs((message) => link.tell(message));
const fresh = new Fresh();
const pause = new Pause();
const groups = new Groups();
const tunnel = new Tunnel(
  (message) => link.tell(message),
  (tabId) => void groups.release(tabId),
);
const panels = new Panels(want);
const relays = new Relays({
  tell: (message) => link.tell(message),
  isBehind: () => link.isBehind,
  hearsOfPrivate: () => tabs.hearsOfPrivate,
});
const badge = new Badge();

// Chrome wakes a worker only for events that were listened for in its first turn.
tabs.listen();
tunnel.listen();
panels.listen();
relays.listen();
chrome.alarms.onAlarm.addListener(() => link.keep());
chrome.runtime.onStartup.addListener(() => link.keep());
chrome.runtime.onInstalled.addListener((why) => void loaded(why));
void chrome.alarms.get('keep').then((alarm) => alarm ?? wake(SELDOM));
void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
// An earlier worker may have held tabs; until a daemon wants them, nobody does.
void tunnel.letGo().then(() => link.keep());

/** The person may have loaded the extension anew to give this browser another name. */
async function loaded(why: chrome.runtime.InstalledDetails): Promise<void> {
  link.keep();
  const known = await pairing();
  if (await takeName(known.name, why)) link.greetAgain();
}

/** Tells the person, on the extension's button. */
function show(state: string): void {
  badge.link(state);
  panels.link(state === 'connected', state);
}

/** Does what the person wants, or says why not. */
function want(wish: FromPanel): void {
  if (!WISHES.includes(wish.type)) return;
  if (!link.isWelcome) return wish.type === 'site' ? undefined : panels.deny('tabmux is not connected, so nothing was changed.');
  if (wish.type === 'pause') void pause.wanted();
  link.tell(wish);
  if (wish.type === 'resume') void pause.over();
  if (wish.type === 'takeBack') void groups.release(wish.tabId);
}

/** Whatever an earlier connection held is let go: the daemon does not know of it. */
async function welcome(): Promise<void> {
  wake(OFTEN);
  fresh.begin();
  await pause.begin();
  await tunnel.letGo();
}

async function lost(): Promise<void> {
  tabs.isHeard = tabs.hearsOfPrivate = false;
  relays.lost();
  await tunnel.letGo();
}

async function hear(message: ToExtension): Promise<void> {
  switch (message.type) {
    case 'connect': {
      // A daemon that was started anew does not know that the person paused its agents.
      if (pause.isOwed) link.tell({ type: 'pause', again: true });
      // From here on changes are told; one that falls between is told twice rather than never.
      tabs.isHeard = true;
      tabs.hearsOfPrivate = message.private === true;
      relays.endPrivate();
      link.tell({ type: 'connected', browser: await browserInfo(), tabs: await tabs.all() });
      link.tell({ type: 'canAsk' });
      const left = await fresh.left();
      if (left.length > 0) link.tell({ type: 'leftTabs', tabIds: left });
      return;
    }
    case 'overview': {
      const overview = { ...SILENT, ...message };
      panels.show(overview);
      badge.questions(overview.questions.length);
      void pause.told(message.paused);
      return groups.arrange(message.agents);
    }
    case 'site':
      return panels.site(message);
    case 'denied':
      return panels.deny(message.reason);
    case 'openTab':
      return done(message.requestId, async () => {
        const tabId = await tabs.open(message.url, message.focus);
        await fresh.opened(tabId);
        return tabId;
      });
    case 'focusTab':
      return done(message.requestId, () => tabs.focus(message.tabId));
    case 'closeTab':
      // Chrome keeps a group that is closed as a whole for later; one that its last tab has left is gone.
      return done(message.requestId, async () => {
        await groups.release(message.tabId);
        await fresh.known(message.tabId);
        await tabs.close(message.tabId);
      });
    case 'tabKnown':
      return fresh.known(message.tabId);
    case 'attach':
      return done(message.requestId, () => tunnel.attach(message.tabId));
    case 'detach':
      return tunnel.detach(message.tabId);
    case 'cdp':
      return tunnel.send(message);
    case 'pageTold':
    case 'pageEnded':
      return relays.hear(message);
    case 'callTool':
      return void link.tell({ type: 'toolResult', callId: message.callId, result: null, error: 'This extension does not look for tools; use cdp.' });
    default:
      return; // The link answers the others.
  }
}

/** Does something, and tells how it went. */
async function done(requestId: number, act: () => Promise<number | void>): Promise<void> {
  try {
    const tabId = await act();
    link.tell(tabId === undefined ? { type: 'done', requestId } : { type: 'done', requestId, tabId });
  } catch (error) {
    link.tell({ type: 'done', requestId, error: error instanceof Error ? error.message : String(error) });
  }
}

/** Has Chrome start the worker again, should it be ended: soon while agents may wait for it, and else now and then. */
function wake(periodInMinutes: number): void {
  void chrome.alarms.create('keep', { periodInMinutes });
}

/** Three seconds; Chrome makes half a minute of it for extensions that are not loaded from a folder. */
const OFTEN = 0.05;
const SELDOM = 0.5;

/** A daemon of an earlier version says nothing of these. */
const SILENT = { questions: [], rules: { allowed: [], blocked: [], more: 0, privateWindows: false } };
