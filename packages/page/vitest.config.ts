/** How the tests run: one file at a time, because a browser is enough for a small machine. */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  define: { LIBRARY_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
