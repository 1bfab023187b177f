/** The relay in a page: whom it answers, what it carries, and how often it can be called. */

import { beforeEach, expect, test, vi } from 'vitest';
import { LONGEST } from '../src/relay-terms.js';

/** The extension's end, and what came there. */
class FakeLink {
  readonly said: string[] = [];
  isOpen = true;
  tell: (text: string) => void = () => undefined;
  refuse: () => void = () => undefined;
  readonly onMessage = { addListener: (listener: (text: string) => void) => void (this.tell = listener) };
  readonly onDisconnect = { addListener: (listener: () => void) => void (this.refuse = listener) };

  postMessage(text: string): void {
    this.said.push(text);
  }

  disconnect(): void {
    this.isOpen = false;
  }
}

let page: EventTarget;
let links: FakeLink[];

beforeEach(async () => {
  [page, links] = [new EventTarget(), []];
  const connect = (): FakeLink => {
    links.push(new FakeLink());
    return links.at(-1) as FakeLink;
  };
  Object.assign(globalThis, {
    window: page,
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
    chrome: { runtime: { connect } },
  });
  vi.resetModules();
  await import('../src/relay.js');
});

/** A page's worker calls; answers with its end, and all that it hears there. */
function call({ source = page, data = 'tabmux-relay' }: { source?: unknown; data?: string } = {}): {
  port: MessagePort;
  heard: unknown[];
  link: FakeLink;
} {
  const { port1, port2 } = new MessageChannel();
  const heard: unknown[] = [];
  port1.onmessage = (event) => heard.push(event.data);
  page.dispatchEvent(Object.assign(new Event('message'), { source, data, ports: [port2] }));
  return { port: port1, heard, link: links.at(-1) as FakeLink };
}

/** What was posted before has come when this is over. */
async function settled(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const came = new Promise((resolve) => (port2.onmessage = resolve));
  port1.postMessage(0);
  await came;
  port1.close();
}

test('a page is heard and answered once it is let in, until the extension ends it', async () => {
  const { port, heard, link } = call();
  link.tell('');
  port.postMessage('hello');
  port.postMessage({ not: 'a text' });
  await vi.waitFor(() => expect(link.said).toEqual(['hello']));
  link.tell('welcome');
  link.refuse();
  await vi.waitFor(() => expect(heard).toEqual(['', 'welcome', null]));
});

test('a page that may not come hears nothing at all', async () => {
  const { port, heard, link } = call();
  const closed = vi.fn();
  port.addEventListener('close', closed);
  port.postMessage('hello');
  link.refuse();
  await settled();
  expect([heard, link.said, closed.mock.calls.length]).toEqual([[], [], 0]);
  port.close();
});

test('calls from frames and other messages are ignored', () => {
  call({ source: new EventTarget() }).port.close();
  call({ data: 'something else' }).port.close();
  expect(links).toEqual([]);
});

test('it ends with the worker that called, and with the page', async () => {
  const [first, second] = [call(), call()];
  for (const { link } of [first, second]) link.tell('');
  first.port.close();
  await vi.waitFor(() => expect(first.link.isOpen).toBe(false));
  expect(second.link.isOpen).toBe(true);
  page.dispatchEvent(new Event('pagehide'));
  expect(second.link.isOpen).toBe(false);
  await vi.waitFor(() => expect(second.heard).toEqual(['', null]));
});

test('s9 a page cannot have many, nor knock without pause, nor say too much', async () => {
  vi.useFakeTimers();
  for (let count = 0; count < 100; count++) call().link.refuse();
  expect(links.length).toBe(4);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  const { port, link } = call();
  expect(links.length).toBe(5);
  link.tell('');
  port.postMessage('x'.repeat(LONGEST + 1));
  await vi.waitFor(() => expect(link.isOpen).toBe(false));
  expect(link.said).toEqual([]);
});
