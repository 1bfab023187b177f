/** How the tests run: two files at a time, each with its own browser, which is enough for a small machine. */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  define: { LIBRARY_VERSION: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
