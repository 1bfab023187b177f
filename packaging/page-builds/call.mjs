/** Opens each built application in a Chromium that tabmux does not drive, and calls its tool as an agent does. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { chromium } from 'playwright-core';

const [tabmux] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tabmux-b-'));
const env = { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder, TABMUX_SOCKET: join(folder, 'daemon.sock'), TABMUX_PORT: '0' };
const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

const executablePath = execFileSync(join(here, '../../scripts/ensure-browser'), ['--print'], { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath });
const client = new Client({ name: 'claude-code', version: '2.1.0' });
let tell = () => {};
client.setNotificationHandler(ToolListChangedNotificationSchema, () => tell());
try {
  await client.connect(new StdioClientTransport({ command: tabmux, args: ['mcp'], env }));
  // The daemon has started by now; pages are told its port.
  const { port } = JSON.parse(execFileSync(tabmux, ['status', '--json'], { env, encoding: 'utf8' }));
  for (const name of ['vite', 'webpack', 'esbuild', 'next']) await callIn(name, port);
} finally {
  await client.close();
  await browser.close();
  execFileSync(tabmux, ['daemon', 'stop'], { env, stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
}

async function callIn(name, port) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, 'http://localhost').pathname);
    const file = join(here, 'out', name, path.endsWith('/') ? `${path}index.html` : path);
    try {
      const bytes = await readFile(file);
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream').end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/?daemon=ws://127.0.0.1:${port}/page`);
  await listed(true, () => `${name}: the tool is not listed: ${complaints.join('\n')}`);
  const result = await client.callTool({ name: 'get_answer', arguments: {} });
  const answer = result.content.map((part) => part.text).join('');
  if (!answer.includes(`from ${name}`)) throw new Error(`${name}: ${answer}`);
  console.log(`    ${name}: called its tool`);
  await page.close();
  await listed(false, () => `${name}: the tool stays listed`);
  server.closeAllConnections();
  server.close();
}

/** Waits until the tool is in the list, or is not. */
async function listed(wanted, complaint) {
  let end;
  const late = new Promise((_, reject) => (end = setTimeout(() => reject(new Error(complaint())), 60_000)));
  try {
    for (;;) {
      const changed = new Promise((resolve) => (tell = resolve));
      const { tools } = await client.listTools();
      if (tools.some((tool) => tool.name === 'get_answer') === wanted) return;
      await Promise.race([changed, late]);
    }
  } finally {
    clearTimeout(end);
  }
}
