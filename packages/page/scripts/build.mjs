/** Builds `dist/`: the page's half, the React hook, the worker, and their types. Fails if they are too large. */

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });

const common = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: true,
  define: { LIBRARY_VERSION: JSON.stringify(version) },
};
await build({ ...common, entryPoints: { index: 'src/index.ts' }, outdir: 'dist' });
// The hook and the application have to use the same client, so it is not bundled a second time.
await build({ ...common, entryPoints: { react: 'src/react.ts' }, outdir: 'dist', external: ['react', './index.js'] });
// A service worker is a classic script, and a script without imports and exports is both.
await build({ ...common, entryPoints: { worker: 'src/worker/entry.ts' }, outdir: 'dist', format: 'iife' });

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json'], { stdio: 'inherit' });
writeFileSync('dist/worker.d.ts', "/** The worker's script; import its address, not its code: `@tabmux/page/worker?url`. */\nexport {};\n");

const sizes = ['index.js', 'worker.js'].map((name) => gzipSync(readFileSync(`dist/${name}`)).length);
const total = sizes.reduce((sum, size) => sum + size);
console.log(`page ${sizes[0]} + worker ${sizes[1]} = ${total} bytes gzipped`);
if (total > 8000) throw new Error('Page and worker together are over 8 kB gzipped; make them smaller.');
