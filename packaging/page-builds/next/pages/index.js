/** A page of a Next.js application: the tool exists as long as its component. The build copies the worker's file. */

import { workerClient } from '@tabmux/page';
import { useTool } from '@tabmux/page/react';
import { createElement, useEffect } from 'react';

export default function Home() {
  useTool({ name: 'get_answer', description: 'Get the answer.', handler: async () => 'from next' });
  useEffect(() => {
    const daemonUrl = new URLSearchParams(location.search).get('daemon');
    workerClient.init({ daemonUrl, workerUrl: '/tabmux-worker.js' }).then(() => (document.title = 'ready'));
  }, []);
  return createElement('p', null, 'An application.');
}
