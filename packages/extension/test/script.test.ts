/** The script of `docs/protocol.md`, as it is written there, against the real daemon. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const program = process.env['TABMUX_BIN'] ?? join(root, 'target/debug/tabmux');
const document = readFileSync(join(root, 'docs/protocol.md'), 'utf8');

test.runIf(existsSync(program))('the script in the document pairs and plays an extension', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tabmux-script-'));
  const script = join(import.meta.dirname, '../play-extension.test.mjs');
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, TABMUX_SOCKET: join(home, 'd.sock'), TABMUX_PORT: '0' };
  const daemon = spawn(program, ['daemon', 'run'], { env, stdio: 'ignore' });
  let player: ChildProcess | undefined;
  try {
    writeFileSync(script, document.split('```js\n')[1]?.split('```')[0] ?? '');
    execFileSync(program, ['extension', 'install', '--wait', '0'], { env, stdio: 'ignore' });
    const port = await until(() => status(env)?.port);
    player = spawn(process.execPath, [script, join(home, 'tabmux/pairing-secret'), String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (!player.stdout) throw new Error('no output');
    const said: string[] = [];
    for await (const line of createInterface(player.stdout)) {
      said.push(line);
      if (line === 'connect') break;
    }
    expect(said).toEqual(['challenge', 'welcome', 'connect']);
    expect(execFileSync(program, ['extension', 'status', '--json'], { env, encoding: 'utf8' })).toContain('"connected": true');
  } finally {
    player?.kill();
    daemon.kill();
    rmSync(script, { force: true });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});

function status(env: NodeJS.ProcessEnv): { port?: number } | undefined {
  try {
    return JSON.parse(execFileSync(program, ['status', '--json'], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) as {
      port?: number;
    };
  } catch {
    return undefined; // It is not up yet.
  }
}

async function until<T>(ask: () => T | undefined): Promise<T> {
  for (;;) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
