/** A daemon of its own, and an MCP client that speaks to it over stdin and stdout. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../../../..');
const program = process.env.TABMUX_BIN ?? join(root, 'target/debug/tabmux');

/** Whether tabmux is built. `make test` builds it first. */
export const isBuilt = existsSync(program);

interface Message {
  id?: number;
  method?: string;
  result?: never;
  error?: { message: string };
}

export interface ListedTool {
  name: string;
  description: string;
  inputSchema: { properties: Record<string, unknown> };
}

export class Tabmux {
  private readonly env: NodeJS.ProcessEnv;
  private readonly client: ChildProcess;
  private readonly waiting = new Map<number, (message: Message) => void>();
  private count = 0;
  /** How often the client was told that its list changed. */
  changes = 0;

  private constructor(
    flags: string[],
    private readonly home = mkdtempSync(join(tmpdir(), 'tabmux-page-')),
    port = 0,
  ) {
    this.env = environment(home, port);
    const attaches = flags.some((flag) => flag.startsWith('--wsEndpoint'));
    this.client = spawn(program, ['mcp', '--tools', 'static', ...(attaches ? [] : ['--headless']), ...flags], {
      env: this.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (this.client.stdout === null) throw new Error('no output');
    createInterface(this.client.stdout).on('line', (line) => {
      const message = JSON.parse(line) as Message;
      if (message.method === 'notifications/tools/list_changed') {
        this.changes += 1;
        // As clients do; a client that never fetches is notified of new tools with its answers.
        this.list().catch(() => {});
      }
      if (message.id !== undefined) this.waiting.get(message.id)?.(message);
    });
  }

  static async start(...flags: string[]): Promise<Tabmux> {
    return new Tabmux(flags).ready();
  }

  /** One whose daemon takes pages of this origin, and with an extension in `extension` that is paired with it. */
  static async paired(origin: string): Promise<{ tabmux: Tabmux; extension: string }> {
    const [home, port] = [mkdtempSync(join(tmpdir(), 'tabmux-page-')), await freePort()];
    const env = environment(home, port);
    execFileSync(program, ['extension', 'install', '--wait=0'], { env });
    const log = openSync(join(home, 'd.log'), 'a');
    spawn(program, ['daemon', 'run', '--allowPageOrigin', origin], { env, stdio: ['ignore', 'ignore', log] });
    while (spawnSync(program, ['status'], { env }).status !== 0);
    const tabmux = await new Tabmux([], home, port).ready();
    return { tabmux, extension: join(home, '.local/share/tabmux/extension') };
  }

  private async ready(): Promise<Tabmux> {
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'claude-code', version: '0' } });
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await this.tools();
    return this;
  }

  /** Where pages find the daemon. */
  get url(): string {
    const status = execFileSync(program, ['status', '--json'], { env: this.env, encoding: 'utf8' });
    return `ws://127.0.0.1:${(JSON.parse(status) as { port: number }).port}/page`;
  }

  /** What the daemon has logged. */
  get log(): string {
    return readFileSync(join(this.home, 'd.log'), 'utf8');
  }

  /** The tools in the order they are listed, so that one that is there twice shows. */
  async list(): Promise<ListedTool[]> {
    const { tools } = await this.ask<{ tools: ListedTool[] }>('tools/list', {});
    return tools;
  }

  async tools(): Promise<Map<string, ListedTool>> {
    return new Map((await this.list()).map((tool) => [tool.name, tool]));
  }

  async call(name: string, args: object = {}): Promise<{ text: string; isError: boolean }> {
    const result = await this.ask<{ content: { text: string }[]; isError?: boolean }>('tools/call', { name, arguments: args });
    return { text: result.content.map(({ text }) => text).join('\n'), isError: result.isError ?? false };
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.client.once('exit', resolve));
    this.client.stdin?.end();
    await ended;
    execFileSync(program, ['daemon', 'stop'], { env: this.env });
    // Its browser writes to its profile until its last process has ended.
    spawnSync('pidwait', ['-f', this.home]);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  private ask<T>(method: string, params: object): Promise<T> {
    this.count += 1;
    const id = this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result, error }) => {
        this.waiting.delete(id);
        if (error) reject(new Error(error.message));
        else resolve(result as T);
      });
      this.write({ jsonrpc: '2.0', id, method, params });
    });
  }

  private write(message: object): void {
    this.client.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}

function environment(home: string, port: number): NodeJS.ProcessEnv {
  return { ...process.env, HOME: home, TABMUX_SOCKET: join(home, 'd.sock'), TABMUX_PORT: String(port) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
