/** An application that esbuild builds. It does not bundle workers, so the build copies the worker's file. */

import { workerClient } from '@tabmux/page';

workerClient.registerTool('get_answer', 'Get the answer.', {}, async () => 'from esbuild');
const daemonUrl = new URLSearchParams(location.search).get('daemon');
workerClient.init({ daemonUrl, workerUrl: '/tabmux-worker.js' }).then(() => (document.title = 'ready'));
