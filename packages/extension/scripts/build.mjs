/**
 * Builds the scripts in `dist`, which are committed: the `tabmux` program contains them, so that building it needs no Node.js.
 * With `--check` it fails if the committed files differ from what would be built.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
for (const name of ['worker', 'panel', 'relay']) {
  const { outputFiles } = await build({
    entryPoints: [`src/${name}.ts`],
    bundle: true,
    format: 'iife',
    target: 'chrome125',
    charset: 'utf8',
    write: false,
  });
  const [{ text }] = outputFiles;
  const file = `dist/${name}.js`;
  if (process.argv.includes('--check')) {
    let committed = '';
    try {
      committed = readFileSync(file, 'utf8');
    } catch {
      // A missing file is stale, too.
    }
    if (committed !== text) throw new Error(`${file} is stale; run \`npm run build\` in packages/extension and commit it.`);
  } else {
    mkdirSync('dist', { recursive: true });
    writeFileSync(file, text);
  }
}
