/**
 * Builds `dist/worker.js`, which is committed: the `tabmux` program carries it, and whoever builds that needs no Node.js.
 * With `--check` it only says whether the committed file is what would be built.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { outputFiles } = await build({
  entryPoints: ['src/worker.ts'],
  bundle: true,
  format: 'iife',
  target: 'chrome125',
  charset: 'utf8',
  write: false,
});
const [{ text }] = outputFiles;
if (process.argv.includes('--check')) {
  let committed = '';
  try {
    committed = readFileSync('dist/worker.js', 'utf8');
  } catch {
    // There is none: then it is stale, too.
  }
  if (committed !== text) throw new Error('dist/worker.js is stale; run `npm run build` in packages/extension and commit it.');
} else {
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/worker.js', text);
}
