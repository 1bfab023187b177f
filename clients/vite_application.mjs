/**
 * A Vite application with the packed page library, in a Chromium that tabmux does not drive, and an agent that says
 * it is Claude Code: it sees the application's tool without its own browser, and calls it in the tab it names.
 */

import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { SERVER, check, shown } from './shared.mjs';

const root = fileURLToPath(new URL('../target/clients/vite-application', import.meta.url));
const application = await createServer({ root, logLevel: 'error', server: { host: '127.0.0.1', port: 0 } });
await application.listen();
const address = application.resolvedUrls.local[0];
const browser = await chromium.launch({ executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium' });
const client = new Client({ name: 'claude-code', version: '2.1.0' });
let tell;
let news = new Promise((resolve) => (tell = resolve));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
  tell();
  news = new Promise((resolve) => (tell = resolve));
});

const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return result.content.map((part) => part.text).join('\n');
};

try {
  await client.connect(new StdioClientTransport(SERVER));
  check((await names()).includes('connect_browser'), 'the list does not follow the work');
  shown('list', 'follows the work');
  const context = await browser.newContext();
  for (const user of ['Ada', 'Bob']) {
    const page = await context.newPage();
    await page.goto(`${address}?user=${user}`);
    await page.waitForFunction((title) => document.title === title, `Users of ${user}`);
  }
  let deadline = setTimeout(() => { console.error('the tool was not listed'); process.exit(1); }, 30_000);
  for (let list = await names(); !list.includes('get_user'); list = await names()) await news;
  clearTimeout(deadline);
  shown('list change');
  check((await names()).includes('list_browser_tabs'), await names());
  const tabs = JSON.parse(await call('list_browser_tabs', {}));
  check(tabs.length === 2, tabs);
  for (const user of ['Ada', 'Bob']) {
    const tab = tabs.find((tab) => tab.title === `Users of ${user}`);
    const answer = await call('get_user', { id: '7', tabId: tab.tabId });
    check(answer === `user 7, seen by ${user}`, answer);
  }
  shown('call');
} finally {
  await client.close();
  await browser.close();
  await application.close();
}
