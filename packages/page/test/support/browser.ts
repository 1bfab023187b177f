/** The real browser that tests run in. */

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where the browser is. */
export const executablePath = [process.env['CHROME_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path && existsSync(path),
);

export const args = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

export function launch(...more: string[]): Promise<Browser> {
  return chromium.launch({ ...browser(), args: [...args, ...more] });
}

/** What every way to start it needs. */
export function browser(): { executablePath: string; headless: true } {
  if (!executablePath) throw new Error('There is no Chromium; install it, or set CHROME_PATH.');
  return { executablePath, headless: true };
}

/** Opens the application and waits until its tab is registered; answers its id. */
export async function open(page: Page, url: string): Promise<string> {
  await page.goto(url);
  return tabIdOf(page);
}

/** The id of a tab whose client is ready. */
export async function tabIdOf(page: Page): Promise<string> {
  await page.locator('[data-ready]').waitFor({ state: 'attached' });
  return page.evaluate('workerClient.getTabId()');
}

/** The application's answer in a result. */
export function answerOf(outcome: unknown): unknown {
  const text = JSON.stringify(outcome);
  const { success, result } = JSON.parse(text);
  if (success !== true) throw new Error(`the call failed: ${text}`);
  return JSON.parse(result.content[0].text);
}
