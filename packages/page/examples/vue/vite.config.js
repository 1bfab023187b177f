/** Top-level await, and the library left as it is, so that the development server finds its worker. */

import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [vue()], build: { target: 'es2022' }, optimizeDeps: { exclude: ['@tabmux/page'] } });
