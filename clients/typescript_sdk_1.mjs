/** The official TypeScript SDK, version 1: a session with a handshake. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { OVER_HTTP, Person, SERVER, optionsComeThird, serve, story } from './shared.mjs';

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
const transport = OVER_HTTP ? new StreamableHTTPClientTransport(...(await serve())) : new StdioClientTransport(SERVER);
await client.connect(transport);
optionsComeThird();
await story({ client, name, person, changed });
await client.close();
process.exit();
