/** An application that offers one tool, as docs/page-library.md shows it. Its tabs differ in who is logged in. */

import { workerClient } from '@tabmux/page';

const user = new URLSearchParams(location.search).get('user');
document.title = `Users of ${user}`;

workerClient.registerTool(
  'get_user',
  'Get a user by id.',
  { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  async ({ id }) => ({ content: [{ type: 'text', text: `user ${id}, seen by ${user}` }] }),
);

await workerClient.init();
