/** A web server for tests: the built library, and an application whose query says what it does. */

import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export class Site {
  private constructor(
    private readonly server: Server,
    readonly origin: string,
  ) {}

  /** Serves a folder; without one, the application below and the library as `/tabmux/…`. */
  static async start(folder?: string, host = 'localhost'): Promise<Site> {
    const server = createServer(async (request, response) => {
      const path = normalize(new URL(request.url ?? '/', 'http://x').pathname);
      const headers = { 'cache-control': 'no-cache' };
      try {
        const [type, body] = await content(path, folder);
        response.writeHead(200, { ...headers, 'content-type': type }).end(body);
      } catch {
        response.writeHead(404, headers).end('not here');
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address: AddressInfo | string | null = server.address();
    if (address === null || typeof address === 'string') throw new Error('the site does not listen');
    return new Site(server, `http://${host}:${address.port}`);
  }

  /** The address of the application: which tools, which worker, which daemon. */
  app(query: { tools?: string; daemon: string; worker?: string; path?: string; script?: string }): string {
    const { path = '/app', ...rest } = query;
    return `${this.origin}${path}?${new URLSearchParams(rest)}`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

async function content(path: string, folder: string | undefined): Promise<[string, string | Buffer]> {
  if (folder === undefined && !path.startsWith('/tabmux/')) return ['text/html', APP];
  const root = folder ?? fileURLToPath(new URL('../../dist', import.meta.url));
  const name = folder === undefined ? path.slice('/tabmux'.length) : path.endsWith('/') ? `${path}index.html` : path;
  return [TYPES[extname(name)] ?? 'text/plain', await readFile(join(root, name))];
}

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Every tool answers who it ran for, with what, and how often this document has run one. */
const APP = `<!doctype html>
<meta charset="utf-8">
<title>An application</title>
<h1>An application</h1>
<script type="module">
  const query = new URLSearchParams(location.search);
  const script = query.get('script');
  if (script) new Function(script)();
  const { WorkerClient, workerClient } = await import('/tabmux/index.js');
  Object.assign(window, { WorkerClient, workerClient, runs: 0 });
  const secret = { text: 'a closure' };
  for (const name of (query.get('tools') ?? '').split(',').filter(Boolean)) {
    workerClient.registerTool(name, 'Tool ' + name, {}, async (args) => {
      window.runs += 1;
      const answer = { tab: workerClient.getTabId(), args, heading: document.querySelector('h1').textContent, closure: secret.text };
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    });
  }
  window.ready = workerClient.init({ daemonUrl: query.get('daemon'), worker: query.get('worker') ?? 'auto' });
  await window.ready;
  document.body.dataset.ready = 'yes';
  window.tellReady?.('');
</script>`;
