/** Top-level await, and the library left as it is, so that the development server finds its worker. */

import { defineConfig } from 'vite';

export default defineConfig({ build: { target: 'es2022' }, optimizeDeps: { exclude: ['@tabmux/page'] } });
