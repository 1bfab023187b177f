/** Files that any server can serve. */

import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default { output: 'export', outputFileTracingRoot: root, turbopack: { root } };
