/** Shared by the tests of the TypeScript SDKs: the steps of `shared.py`, for their clients. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export const PAGES = process.env.PAGES;
export const SERVER = { command: 'tabmux', args: ['mcp'] };
const OWN = `node-${process.pid}`;

/** Whether to connect over HTTP. */
export const OVER_HTTP = process.argv[2] === 'http';

/** Starts `tabmux serve` with a token for this client; it ends with this process. */
export async function serve() {
  const server = spawn('tabmux', ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => server.kill());
  const [greeting] = await once(createInterface(server.stdout), 'line');
  const token = execFileSync('tabmux', ['token', 'add', OWN], { encoding: 'utf8' }).trim();
  const url = new URL(greeting.split(' ').at(-1));
  return [url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } }];
}

/** Reports a result to the runner. */
export function shown(what, how = 'yes') {
  console.log(`@ ${what}\t${how}`);
}

export function check(condition, story) {
  if (!condition) throw new Error(typeof story === 'string' ? story : JSON.stringify(story));
}

/** Checks, in the usual environment, that the shared daemon has this client's session. */
function oneDaemon(client) {
  const sessions = JSON.parse(execFileSync('tabmux', ['sessions', '--json'], { encoding: 'utf8' }));
  const names = sessions.map((session) => session.client);
  check(names.includes(client), `${client} is not among ${names}`);
  shown('one daemon');
}

/** A person who answers questions as `agrees` says. */
export class Person {
  agrees = false;
  questions = [];

  answer = (request) => {
    this.questions.push(request.params.message);
    return this.agrees ? { action: 'accept', content: { run: true } } : { action: 'decline' };
  };
}

/** Runs the steps. `changed` waits until the client was notified of a changed list. */
export async function story({ client, name, person, changed }) {
  const call = async (tool, args, options) => {
    const result = await client.callTool({ name: tool, arguments: args }, ...options ?? []);
    return result.content.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
  };
  const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
  const list = await names();
  const all = ['list_pages', 'new_page', 'take_snapshot', 'call_page_tool', 'list_network_requests'];
  check(all.every((tool) => list.includes(tool)), list);
  shown('list', 'fixed');
  const opened = await call('new_page', { url: `${PAGES}/fields.html` });
  check(opened.includes('fields.html'), opened);
  const snapshot = await call('take_snapshot', {});
  check(snapshot.includes('textbox'), snapshot);
  shown('call');
  oneDaemon(name);
  await listChange(call, names, changed);
  await question(call, person);
  await cancel(call);
  await progress(call);
}

async function listChange(call, names, changed) {
  await call('new_page', { url: `${PAGES}/shop` });
  while (!(await names()).includes('buy')) await changed();
  shown('list change');
}

async function question(call, person) {
  const buy = (item) => call('call_page_tool', { name: 'buy', arguments: { item } });
  const refused = await buy('tea');
  check(refused.includes('Nothing was done'), refused);
  person.agrees = true;
  const bought = await buy('milk');
  check(bought.includes('bought milk'), bought);
  const all = await call('evaluate_script', { function: '() => bought' });
  check(all.includes('milk') && !all.includes('tea'), all);
  check(person.questions.length === 2, person.questions);
  shown('question');
}

async function cancel(call) {
  const loop =
    `() => { const r = new XMLHttpRequest(); r.open('GET', '/loops-${OWN}', false); r.send(); for (;;); }`;
  const stop = new AbortController();
  const endless = call('evaluate_script', { function: loop }, options({ signal: stop.signal }));
  const ended = endless.then(() => 'answered', () => 'cancelled');
  await fetch(`${PAGES}/_wait?path=/loops-${OWN}`);
  stop.abort();
  check((await ended) === 'cancelled', 'the call was not cancelled');
  const answer = await call('evaluate_script', { function: '() => 6 * 7' });
  check(answer.includes('42'), answer);
  shown('cancel');
}

async function progress(call) {
  await call('new_page', { url: `${PAGES}/late?/go-${OWN}` });
  let told = 0;
  const onprogress = () => {
    told += 1;
    fetch(`${PAGES}/go-${OWN}`);
  };
  const text = await call('wait_for', { text: ['It is here'], timeout: 20000 }, options({ onprogress }));
  check(told > 0, `no progress was sent: ${text}`);
  shown('progress');
}

/** The arguments of `callTool` before the options; version 1 has a schema there. */
let options = (given) => [given];

export function optionsComeThird() {
  options = (given) => [undefined, given];
}
