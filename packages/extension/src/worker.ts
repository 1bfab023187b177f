/**
 * The service worker: keeps the connection to the daemon, and carries out its commands on tabs. Chrome may stop it at any
 * moment and start it again with the next event, so it keeps no state that it cannot restore.
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

// Chrome wakes a worker only for events whose listeners were added during its first run of the event loop.
tabs.listen();
tunnel.listen();
panels.listen();
relays.listen();
chrome.alarms.onAlarm.addListener(() => link.keep());
chrome.runtime.onStartup.addListener(() => link.keep());
chrome.runtime.onInstalled.addListener((why) => void loaded(why));
void chrome.alarms.get('keep').then((alarm) => alarm ?? wake(SELDOM));
void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
// An earlier worker may still be attached to tabs. Detach them until a daemon asks again.
void tunnel.detachAll().then(() => link.keep());

/** The user may have reloaded the extension to give this browser another name. */
async function loaded(why: chrome.runtime.InstalledDetails): Promise<void> {
  link.keep();
  const known = await pairing();
  if (await takeName(known.name, why)) link.greetAgain();
}

/** Shows the state of the connection on the extension's button and in the panels. */
function show(state: string): void {
  badge.link(state);
  panels.link(state === 'connected', state);
}

/** Carries out a request of the user, or shows why it cannot. */
function want(wish: FromPanel): void {
  if (!WISHES.includes(wish.type)) return;
  if (!link.isWelcome) {
    if (wish.type !== 'site') panels.deny('tabmux is not connected, so nothing was changed.');
    return;
  }
  if (wish.type === 'pause') void pause.wanted();
  link.tell(wish);
  if (wish.type === 'resume') void pause.over();
  if (wish.type === 'takeBack') void groups.release(wish.tabId);
}

/** Detaches the tabs of an earlier connection, because the daemon does not know about them. */
async function welcome(): Promise<void> {
  wake(OFTEN);
  fresh.begin();
  await pause.begin();
  await tunnel.detachAll();
}

async function lost(): Promise<void> {
  tabs.isHeard = tabs.hearsOfPrivate = false;
  relays.lost();
  await tunnel.detachAll();
}

async function hear(message: ToExtension): Promise<void> {
  switch (message.type) {
    case 'connect': {
      // A restarted daemon does not know that the user paused its agents.
      if (pause.isOwed) link.tell({ type: 'pause', again: true });
      // From here on changes are reported. A change that happens right now may be reported twice, but is never missed.
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
      // Chrome saves a group whose last tab is closed, but removes one whose last tab has left it.
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
      return; // The link handles the other messages.
  }
}

/** Carries out a command and reports its result. */
async function done(requestId: number, act: () => Promise<unknown>): Promise<void> {
  try {
    const opened = await act();
    link.tell(typeof opened === 'number' ? { type: 'done', requestId, tabId: opened } : { type: 'done', requestId });
  } catch (error) {
    link.tell({ type: 'done', requestId, error: error instanceof Error ? error.message : String(error) });
  }
}

/** Sets the alarm that restarts a stopped worker: a short one while agents may wait for it, otherwise a long one. */
function wake(periodInMinutes: number): void {
  void chrome.alarms.create('keep', { periodInMinutes });
}

/** Three seconds. Chrome raises it to half a minute for extensions that are not loaded from a folder. */
const OFTEN = 0.05;
const SELDOM = 0.5;

/** Fields that a daemon of an earlier version does not send. */
const SILENT = { questions: [], rules: { allowed: [], blocked: [], more: 0, privateWindows: false } };
