/** An application that webpack builds; nothing has to be configured. */

import { workerClient } from '@tabmux/page';

workerClient.registerTool('get_answer', 'Get the answer.', {}, async () => 'from webpack');
workerClient.init({ daemonUrl: new URLSearchParams(location.search).get('daemon') }).then(() => (document.title = 'ready'));
