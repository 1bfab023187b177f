/** Pages with an MCP server inside, on MCP-B's tab transport: the packages as they are published. Needs a built tabmux. */

import { build } from 'esbuild';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { executablePath } from './support/browser.js';
import { Site } from './support/site.js';
import { Tabmux, isBuilt } from './support/tabmux.js';

let folder: string;
let site: Site;
let tabmux: Tabmux | undefined;

beforeEach(async () => {
  if (!isBuilt) throw new Error('build tabmux first: cargo build --package tabmux');
  folder = await mkdtemp(join(tmpdir(), 'tabmux-transport-'));
  site = await Site.start(folder);
});
afterEach(async () => {
  await tabmux?.stop();
  tabmux = undefined;
  await site.stop();
  // Chrome may need a moment to leave its profile.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

/** A page with a server of two tools, on a channel. */
async function page(channelId: string): Promise<string> {
  const contents = `
    import { TabServerTransport } from '@mcp-b/transports';
    import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
    window.runs = 0;
    const server = new McpServer({ name: 'shop', version: '1' });
    const person = fromJsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] });
    const greet = server.registerTool('greet', { description: 'Greets somebody', inputSchema: person, annotations: { readOnlyHint: true } },
      async ({ name }) => ({ content: [{ type: 'text', text: 'Hello ' + name + ', run ' + ++window.runs }] }));
    server.registerTool('fail', { description: 'Fails' }, async () => { throw new Error('boom'); });
    window.hide = () => greet.disable();
    window.stop = () => server.close();
    await server.connect(new TabServerTransport({ allowedOrigins: [location.origin], channelId: '${channelId}' }));`;
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    outfile: join(folder, 'server.js'),
    logLevel: 'silent',
  });
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>A shop</title><script type="module" src="/server.js"></script>');
  return `${site.origin}/`;
}

const CHROME = [`--executablePath=${executablePath}`, '--chromeArg=--disable-quic'];
// What is switched off stays off, whatever tabmux switches on.
const WITHOUT = '--chromeArg=--disable-features=WebMCP,WebMCPTesting';

test.each([
  ['with WebMCP', 'mcp-default', []],
  ['with the polyfill', 'mcp-default', [WITHOUT]],
  ['without it', 'a channel of its own', [WITHOUT, '--noShim']],
])('the tools of a server in the page, in a browser %s, are listed, followed and called', async (_, channel, flags) => {
  tabmux = await Tabmux.start(`--userDataDir=${join(folder, 'profile')}`, ...CHROME, ...flags);
  await tabmux.call('new_page', { url: await page(channel) });
  const listed = (await tabmux.call('list_page_tools')).text;
  expect(listed.match(/^greet in tab /gm), listed).toHaveLength(1);
  expect(listed).toContain('Greets somebody');
  expect(listed).toContain(`a page of ${site.origin}; untrusted.`);
  const answer = await tabmux.call('call_page_tool', { name: 'greet', arguments: { name: 'Ada' } });
  expect(answer).toEqual({ text: 'Hello Ada, run 1', isError: false });
  expect((await tabmux.call('greet', { name: 7 })).text).toMatch(/^Invalid arguments for greet/);
  const failed = await tabmux.call('fail');
  expect(failed.isError).toBe(true);
  expect(failed.text).toContain('boom');

  const names = async () => [...(await (tabmux as Tabmux).tools()).keys()].filter((name) => ['greet', 'fail'].includes(name));
  expect(await names()).toEqual(['fail', 'greet']);
  await tabmux.call('evaluate_script', { function: '() => window.hide()' });
  await expect.poll(names).toEqual(['fail']);
  await tabmux.call('evaluate_script', { function: '() => window.stop()' });
  await expect.poll(names).toEqual([]);
});
