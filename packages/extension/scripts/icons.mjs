/** Draws the icons of the extension from `icons/icon.svg`, with the Chromium that is installed. What it writes is committed. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const icons = join(import.meta.dirname, '../icons');
const browser = process.env.CHROME_PATH ?? 'chromium';
const picture = `data:image/svg+xml;base64,${readFileSync(join(icons, 'icon.svg')).toString('base64')}`;
const draw = `
  const image = new Image();
  image.src = '${picture}';
  await image.decode();
  for (const size of [16, 32, 48, 128]) {
    const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size });
    canvas.getContext('2d').drawImage(image, 0, 0, size, size);
    document.body.append(size + ' ' + canvas.toDataURL() + '\\n');
  }`;
const home = mkdtempSync(join(tmpdir(), 'tabmux-icons-'));
try {
  const page = join(home, 'icons.html');
  writeFileSync(page, `<body><script type=module>${draw}</script>`);
  const flags = ['--headless', '--no-sandbox', '--virtual-time-budget=5000', `--user-data-dir=${join(home, 'profile')}`];
  const drawn = execFileSync(browser, [...flags, '--dump-dom', `file://${page}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (const [, size, bytes] of drawn.matchAll(/(\d+) data:image\/png;base64,(\S+)/g)) {
    writeFileSync(join(icons, `icon-${size}.png`), Buffer.from(bytes, 'base64'));
  }
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
