/** Pages that bring their own `modelContext` along: MCP-B's packages as they are published. Needs a built tabmux. */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { executablePath } from './support/browser.js';
import { Site } from './support/site.js';
import { Tabmux, isBuilt } from './support/tabmux.js';

const require = createRequire(import.meta.url);
let folder: string;
let site: Site;

beforeEach(async () => {
  if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
  folder = await mkdtemp(join(tmpdir(), 'tabmux-polyfill-'));
  site = await Site.start(folder);
});
afterEach(async () => {
  await site.stop();
  // Chrome may need a moment to leave its profile.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

/** A page with the script of a package, and one tool. */
async function page(name: string): Promise<string> {
  const script = join(dirname(require.resolve(name)), 'index.iife.js');
  await cp(script, join(folder, 'polyfill.js'));
  const html = `<!doctype html><title>A page</title><script src="/polyfill.js"></script><script>
    window.runs = 0;
    document.modelContext.registerTool({
      name: 'greet', description: 'Greets somebody',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      execute: async ({ name }) => ({ content: [{ type: 'text', text: 'Hello ' + name + ', run ' + ++window.runs }] }),
    });
  </script>`;
  await writeFile(join(folder, 'index.html'), html);
  return `${site.origin}/`;
}

// What is switched off stays off, whatever tabmux switches on.
const WITHOUT = [`--executablePath=${executablePath}`, '--chromeArg=--disable-features=WebMCP,WebMCPTesting', '--chromeArg=--disable-quic'];

test.each([
  ['@mcp-b/webmcp-polyfill', 'with the polyfill', []],
  ['@mcp-b/webmcp-polyfill', 'without it', ['--noShim']],
  ['@mcp-b/global', 'with the polyfill', []],
  ['@mcp-b/global', 'without it', ['--noShim']],
])('the tools of a page with %s, %s, are listed once and run once', async (name, _, flags) => {
  const tabmux = await Tabmux.start(`--userDataDir=${join(folder, 'profile')}`, ...WITHOUT, ...flags);
  try {
    await tabmux.call('new_page', { url: await page(name) });
    const listed = (await tabmux.call('list_page_tools')).text;
    expect(listed.match(/^greet in tab /gm), listed).toHaveLength(1);
    expect(listed).toContain('Greets somebody');
    const answer = await tabmux.call('call_page_tool', { name: 'greet', arguments: { name: 'Ada' } });
    expect(answer).toEqual({ text: 'Hello Ada, run 1', isError: false });
    expect((await tabmux.call('greet', {})).text).toMatch(/^Invalid arguments for greet/);
  } finally {
    await tabmux.stop();
  }
});
