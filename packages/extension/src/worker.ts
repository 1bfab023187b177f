/**
 * The service worker: keeps the connection to the daemon, and does what the daemon says with tabs. Chrome may end it at any
 * moment and start it again with the next event, so it keeps nothing that it cannot find out anew.
 */

import { browserInfo } from './browser.js';
import type { ToExtension } from './messages.js';
import { Link } from './link.js';
import { pairing } from './pairing.js';
import { Tabs } from './tabs.js';
import { Tunnel } from './tunnel.js';

const link = new Link({ pairing, show, welcome, hear, lost });
const tabs = new Tabs((message) => link.tell(message));
const tunnel = new Tunnel((message) => link.tell(message));

// Chrome wakes a worker only for events that were listened for in its first turn.
tabs.listen();
tunnel.listen();
chrome.alarms.onAlarm.addListener(() => link.keep());
chrome.runtime.onStartup.addListener(() => link.keep());
chrome.runtime.onInstalled.addListener(() => link.keep());
void chrome.alarms.create('keep', { periodInMinutes: 0.5 });
link.keep();

/** Tells the person, on the extension's button. */
function show(state: string): void {
  void chrome.action.setTitle({ title: `tabmux Browser Tools: ${state}` });
  void chrome.action.setBadgeText({ text: state === 'connected' ? '' : 'off' });
}

/** Whatever an earlier connection held is let go: the daemon does not know of it. */
async function welcome(): Promise<void> {
  await tunnel.letGo();
}

async function lost(): Promise<void> {
  tabs.isHeard = false;
  await tunnel.letGo();
}

async function hear(message: ToExtension): Promise<void> {
  switch (message.type) {
    case 'connect': {
      // From here on changes are told; one that falls between is told twice rather than never.
      tabs.isHeard = true;
      return link.tell({ type: 'connected', browser: await browserInfo(), tabs: await tabs.all() });
    }
    case 'openTab':
      return done(message.requestId, () => tabs.open(message.url, message.focus));
    case 'focusTab':
      return done(message.requestId, () => tabs.focus(message.tabId));
    case 'closeTab':
      return done(message.requestId, () => tabs.close(message.tabId));
    case 'attach':
      return done(message.requestId, () => tunnel.attach(message.tabId));
    case 'detach':
      return tunnel.detach(message.tabId);
    case 'cdp':
      return tunnel.send(message);
    case 'callTool':
      return link.tell({ type: 'toolResult', callId: message.callId, result: null, error: 'This extension does not look for tools; use cdp.' });
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
