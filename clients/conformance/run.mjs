/**
 * Runs the MCP conformance suite over HTTP: against a fixture behind the gate of `tabmux serve`, and, as far as no
 * fixture is needed, against `tabmux serve` itself. The suite can send no token, so a proxy adds it.
 */

import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const BUILT = join(HERE, '../../target/debug');
const SUITE = join(HERE, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
// What one scenario, or all of a revision, may take.
const LONGEST = 120_000;
const REVISIONS = ['2026-07-28', '2025-11-25'];
/** An extension of MCP that tabmux does not offer. Its scenarios run with those of the revision, but do not count. */
const NOT_OFFERED = /^server-tasks-/;
/** What the suite says about a check that needs a tool of its own. */
const NEEDS_A_TOOL = /^Not testable: server does not list the diagnostic tool/;
/** What a server without the suite's own tools must do, for each revision. */
const WITHOUT_FIXTURES = {
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'dns-rebinding-protection',
    'server-sse-multiple-streams',
    'http-header-validation',
    'http-custom-header-server-validation',
    'input-required-result-unsupported-methods',
  ],
  '2025-11-25': ['server-initialize', 'server-session-lifecycle', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-sse-multiple-streams'],
};

const home = await mkdtemp(join(tmpdir(), 'tabmux-conformance-'));
const environment = { ...process.env, HOME: home, TMPDIR: home, TABMUX_SOCKET: join(home, 'daemon.sock'), TABMUX_PORT: '0' };
for (const name of ['XDG_RUNTIME_DIR', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME']) delete environment[name];
let failed = false;
const proxy = await startProxy();
try {
  await testFixture();
  await testProduct();
} finally {
  proxy.server.close();
  proxy.server.closeAllConnections();
  await output(join(BUILT, 'tabmux'), ['daemon', 'stop']).catch(() => {});
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(failed ? 1 : 0);

async function testFixture() {
  const child = start(join(BUILT, 'examples/conformance'), ['localhost', proxy.origin]);
  const [port, token] = (await firstLine(child)).split(' ');
  proxy.to = { port: Number(port), token };
  for (const revision of REVISIONS) report(`fixture, ${revision}`, await suite(['--requirements', revision]));
  child.stdin.end();
}

async function testProduct() {
  const token = (await output(join(BUILT, 'tabmux'), ['token', 'add', 'conformance'])).trim();
  const flags = ['--headless', '--listen', '127.0.0.1:0', '--host', 'localhost', '--allowOrigin', proxy.origin];
  const child = start(join(BUILT, 'tabmux'), ['serve', ...flags]);
  const port = Number(/:(\d+)\/mcp/.exec(await firstLine(child))[1]);
  proxy.to = { port, token };
  for (const revision of REVISIONS) {
    const results = [];
    for (const scenario of WITHOUT_FIXTURES[revision]) {
      results.push(await suite(['--scenario', scenario, '--spec-version', revision]));
    }
    // The suite's exit code also counts the checks that need its tools.
    report(`tabmux serve, ${revision}`, {
      code: results.every((one) => one.checks.length > 0) ? 0 : 1,
      text: results.map((one) => one.text).join(''),
      checks: results.flatMap((one) => one.checks).filter((check) => !NEEDS_A_TOOL.test(check.errorMessage)),
    });
  }
  child.kill();
}

/** One run of the suite: its exit code, what it said, and its checks. */
async function suite(options) {
  const folder = await mkdtemp(join(home, 'results-'));
  const words = [SUITE, 'server', '--url', `${proxy.origin}/mcp`, '-o', folder, ...options];
  const child = spawn(process.execPath, words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: LONGEST });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data));
  const code = await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  const checks = [];
  for (const name of await readdir(folder)) {
    const scenario = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'));
    if (!NOT_OFFERED.test(name)) checks.push(...scenario.map((check) => ({ ...check, scenario: name })));
  }
  return { code, text, checks };
}

function report(name, { code, text, checks }) {
  const count = (status) => checks.filter((check) => check.status === status).length;
  const isGood = code === 0 && count('SUCCESS') > 0 && count('FAILURE') === 0;
  failed ||= !isGood;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}: ${count('SUCCESS')} checks passed, ${count('FAILURE')} failed`);
  for (const check of checks.filter((check) => check.status === 'FAILURE' || (process.env.VERBOSE && check.status === 'WARNING'))) {
    console.log(`         ${check.scenario}: ${check.id}: ${check.errorMessage ?? ''}`);
  }
  if (!isGood || process.env.VERBOSE) console.log(text);
}

/** Passes requests on to `to`, with its token. */
async function startProxy() {
  const proxy = { to: undefined, origin: '', server: undefined };
  proxy.server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${proxy.to.token}` };
    const passed = request({ port: proxy.to.port, host: '127.0.0.1', method: asked.method, path: asked.url, headers });
    passed.on('response', (given) => {
      answer.writeHead(given.statusCode, given.headers);
      answer.flushHeaders();
      given.pipe(answer);
      given.on('error', () => answer.destroy());
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
  proxy.origin = `http://localhost:${proxy.server.address().port}`;
  return proxy;
}

function start(program, words) {
  const child = spawn(program, words, { env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  child.on('error', (error) => console.log(`${program}: ${error.message}`));
  return child;
}

async function firstLine(child) {
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('The server has ended.');
}

async function output(program, words) {
  const child = start(program, words);
  let text = '';
  for await (const data of child.stdout) text += data;
  return text;
}
