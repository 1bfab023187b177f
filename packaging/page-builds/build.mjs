/** Builds the applications for production, each with its own tool, into `out/`. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import webpack from 'webpack';

process.chdir(fileURLToPath(new URL('.', import.meta.url)));
rmSync('out', { recursive: true, force: true });
for (const name of ['vite', 'webpack', 'esbuild', 'next']) mkdirSync(`out/${name}`, { recursive: true });

const worker = 'node_modules/@tabmux/page/dist/worker.js';
const page = '<!doctype html><meta charset="utf-8"><title>Loading</title><script type="module" src="/main.js"></script>\n';

run('vite', 'build', 'vite', '--outDir', '../out/vite', '--logLevel', 'error');
await withWebpack();
writeFileSync('out/webpack/index.html', page);
run('esbuild', 'esbuild/main.js', '--bundle', '--minify', '--format=esm', '--outfile=out/esbuild/main.js', '--log-level=error');
writeFileSync('out/esbuild/index.html', page);
copyFileSync(worker, 'out/esbuild/tabmux-worker.js');
// Next.js writes beside its sources.
cpSync('next', 'out/next-sources', { recursive: true });
mkdirSync('out/next-sources/public');
copyFileSync(worker, 'out/next-sources/public/tabmux-worker.js');
run('next', 'build', 'out/next-sources');
cpSync('out/next-sources/out', 'out/next', { recursive: true });

function withWebpack() {
  const config = { mode: 'production', context: process.cwd(), entry: './webpack/main.js', output: { path: `${process.cwd()}/out/webpack` } };
  return new Promise((resolve, reject) => {
    webpack(config, (error, stats) => {
      const failure = error ?? (stats.hasErrors() ? new Error(stats.toString('errors-only')) : undefined);
      if (failure) reject(failure);
      else resolve();
    });
  });
}

function run(tool, ...words) {
  const environment = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };
  try {
    execFileSync(`node_modules/.bin/${tool}`, words, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    console.error(`${error.stdout}${error.stderr}`);
    throw error;
  }
}
