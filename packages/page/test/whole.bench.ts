/** What a call costs on the whole way: MCP client, daemon, worker, page and back. `npm run bench`; needs a built tabmux. */

import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, bench, expect, vi } from 'vitest';
import { launch, open } from './support/browser.js';
import { Site } from './support/site.js';
import { Tabmux } from './support/tabmux.js';

let browser: Browser;
let site: Site;
let context: BrowserContext;
let tabmux: Tabmux;

beforeAll(async () => {
  browser = await launch();
  site = await Site.start();
  tabmux = await Tabmux.start();
  context = await browser.newContext();
  await open(await context.newPage(), site.app({ tools: 'one', worker: 'shared', daemon: tabmux.url }));
  await vi.waitFor(async () => expect((await tabmux.tools()).has('one')).toBe(true), { timeout: 20_000, interval: 20 });
});
afterAll(async () => {
  await context.close();
  await tabmux.stop();
  await Promise.all([browser.close(), site.stop()]);
});

bench('a call of a tool that does nothing', async () => {
  const answer = await tabmux.call('one', { n: 1 });
  if (answer.isError) throw new Error(answer.text);
});
