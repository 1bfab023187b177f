/** The official TypeScript SDK, version 2, as its documentation uses it. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { OVER_HTTP, Person, SERVER, serve, story } from './shared.mjs';

const person = new Person();
const name = 'my-client';
let tell;
let news = new Promise((resolve) => (tell = resolve));
const onChanged = () => {
  tell();
  news = new Promise((resolve) => (tell = resolve));
};
const client = new Client(
  { name, version: '1.0.0' },
  { capabilities: { elicitation: { form: {} } }, listChanged: { tools: { onChanged } } },
);
client.setRequestHandler('elicitation/create', person.answer);
const transport = OVER_HTTP ? new StreamableHTTPClientTransport(...(await serve())) : new StdioClientTransport(SERVER);
await client.connect(transport);
await story({ client, name, person, changed: () => news });
await client.close();
process.exit();
