/** The package as it is published: packed, installed into applications, built by Vite, and used in a real browser. */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createServer } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launch } from './support/browser.js';
import { FakeDaemon, type KnownTab } from './support/daemon.js';
import { Site } from './support/site.js';

const run = promisify(execFile);
/** Packing, installing and building are slow on a busy machine. */
const PATIENCE = 120_000;
const root = fileURLToPath(new URL('..', import.meta.url));
// Inside of this folder, so that the applications find Vite and the frameworks without a network.
const out = join(root, 'out');
let browser: Browser;
let daemon: FakeDaemon;

beforeAll(async () => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', out], { cwd: root });
  const tarball = readdirSync(out).find((name) => name.endsWith('.tgz')) ?? '';
  const flags = ['--offline', '--no-audit', '--no-fund', '--no-save', '--no-package-lock'];
  await run('npm', ['install', ...flags, '--prefix', out, join(out, tarball)], { cwd: out });
  cpSync(join(root, 'examples'), out, { recursive: true, filter: (path) => !path.includes('node_modules') });
  browser = await launch();
}, PATIENCE);
afterAll(async () => {
  await browser.close();
  rmSync(out, { recursive: true, force: true });
});
beforeEach(async () => {
  daemon = await FakeDaemon.start();
});
afterEach(() => daemon.stop());

// Spec: page-proxy 36.
test('the plain example works as Vite builds it', { timeout: PATIENCE }, async () => {
  await inExample('plain', async (tab, page) => {
    const { tabId } = tab.record;
    await daemon.tab(tabId, 'add_note', 'list_notes');
    expect(await daemon.call(tabId, 'add_note', { text: 'Buy bread' })).toMatchObject({
      result: { content: [{ text: 'There are 1 notes now.' }] },
    });
    expect(await daemon.call(tabId, 'list_notes')).toMatchObject({ result: { content: [{ text: '["Buy bread"]' }] } });
    expect(await page.textContent('li')).toBe('Buy bread');
  });
});

// Spec: page-proxy 36.
test('the plain example works on the development server of Vite', { timeout: PATIENCE }, async () => {
  const server = await createServer({ root: join(out, 'plain'), logLevel: 'error', server: { port: 0, fs: { allow: [out] } } });
  await server.listen();
  try {
    const [url = ''] = server.resolvedUrls?.local ?? [];
    await opening(url, async ({ record }) => {
      await daemon.tab(record.tabId, 'add_note', 'list_notes');
      expect(await daemon.call(record.tabId, 'list_notes')).toMatchObject({ success: true });
    });
  } finally {
    await server.close();
  }
});

// Spec: page-proxy 4, 36.
test('the React example works, and its tools follow its components', { timeout: PATIENCE }, async () => {
  await inExample('react', async (tab, page) => {
    const { tabId } = tab.record;
    await daemon.tab(tabId, 'add', 'get_count');
    expect(await daemon.call(tabId, 'add', { amount: 3 })).toMatchObject({ result: { content: [{ text: 'Added 3.' }] } });
    await page.getByText('3').waitFor();
    // The handler of the latest render runs.
    expect(await daemon.call(tabId, 'get_count')).toMatchObject({ result: { structuredContent: { count: 3 } } });
    const registrations = daemon.count('REGISTER_TOOL');
    await page.getByText('Lock').click();
    await daemon.tab(tabId, 'get_count');
    await page.getByText('Unlock').click();
    await daemon.tab(tabId, 'add', 'get_count');
    expect(daemon.count('REGISTER_TOOL')).toBe(registrations + 1);
  });
});

// Spec: page-proxy 36.
test('the Vue example works', { timeout: PATIENCE }, async () => {
  await inExample('vue', async (tab, page) => {
    const { tabId } = tab.record;
    expect(await daemon.call(tabId, 'add_to_basket', { item: 'bread' })).toMatchObject({ result: { structuredContent: { items: ['bread'] } } });
    await page.getByText('bread').waitFor();
  });
});

test('the package has no dependencies, its types check, and it holds what it should', { timeout: PATIENCE }, async () => {
  const manifest = JSON.parse(readFileSync(join(out, 'node_modules/@tabmux/page/package.json'), 'utf8'));
  expect(manifest.dependencies).toBeUndefined();
  const files = readdirSync(join(out, 'node_modules/@tabmux/page')).sort();
  expect(files).toEqual(['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'dist', 'package.json']);
  cpSync(join(root, 'test/types.ts'), join(out, 'types.ts'));
  const options = [
    '--strict',
    '--skipLibCheck',
    '--noEmit',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--target',
    'es2022',
    '--types',
    'react',
  ];
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'types.ts'], { cwd: out });
});

/** Builds the example, opens it, and tells when its tab is there with tools. */
async function inExample(name: string, use: (tab: KnownTab, page: Page) => Promise<void>): Promise<void> {
  const app = join(out, name);
  await run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], { cwd: app });
  const site = await Site.start(join(app, 'dist'));
  try {
    await opening(`${site.origin}/`, use);
  } finally {
    await site.stop();
  }
}

async function opening(url: string, use: (tab: KnownTab, page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage();
  try {
    await page.addInitScript(`window.tabmuxOptions = { daemonUrl: ${JSON.stringify(daemon.url)} }`);
    await page.goto(url);
    const tab = await daemon.until(() => [...daemon.tabs.values()].find((known) => known.tools.size > 0));
    expect(daemon.log[0]).toMatchObject({ type: 'HELLO', worker: 'shared' });
    await use(tab, page);
  } finally {
    await page.close();
  }
}
