/** The official TypeScript SDK, version 1: a session with a handshake. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Person, SERVER, optionsComeThird, story } from './shared.mjs';

const person = new Person();
const name = 'my-client';
const client = new Client({ name, version: '1.0.0' }, { capabilities: { elicitation: {} } });
let tell;
let news = new Promise((resolve) => (tell = resolve));
const changed = () => news;
client.setRequestHandler(ElicitRequestSchema, person.answer);
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
  tell();
  news = new Promise((resolve) => (tell = resolve));
});
await client.connect(new StdioClientTransport(SERVER));
optionsComeThird();
await story({ client, name, person, changed });
await client.close();
