/** A page without a framework: two tools for a list of notes. */

import { workerClient } from '@tabmux/page';

const list = document.querySelector('ul');

workerClient.registerTool(
  'add_note',
  'Add a note to the list in this tab.',
  { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  async ({ text }) => {
    const item = document.createElement('li');
    item.textContent = text;
    list.append(item);
    return `There are ${list.children.length} notes now.`;
  },
);

workerClient.registerTool(
  'list_notes',
  'List the notes in this tab. Each tab has its own.',
  {},
  async () => [...list.children].map((item) => item.textContent),
  { annotations: { readOnlyHint: true } },
);

workerClient.onConnectionStatus(({ connected }) => {
  document.querySelector('#status').textContent = connected ? 'An agent can use this page.' : 'Waiting for tabmux.';
});

await workerClient.init(window.tabmuxOptions);
