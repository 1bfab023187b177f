/** The relays of pages: who may have one, what it carries, and how it ends. */

import { beforeEach, expect, test } from 'vitest';
import type { FromExtension } from '../src/messages.js';
import { LONGEST } from '../src/relay-terms.js';
import { Relays } from '../src/relays.js';
import { ID } from './fake-chrome.js';

let connect: (port: FakePort) => void;

class FakePort {
  readonly said: unknown[] = [];
  isOpen = true;
  #hear: (text: unknown) => void = () => undefined;
  #end: () => void = () => undefined;
  readonly onMessage = { addListener: (listener: (text: unknown) => void) => void (this.#hear = listener) };
  readonly onDisconnect = { addListener: (listener: () => void) => void (this.#end = listener) };

  constructor(
    readonly sender: object,
    readonly name = 'relay',
  ) {}

  postMessage(text: unknown): void {
    this.said.push(text);
  }

  disconnect(): void {
    this.isOpen = false;
  }

  hear(text: unknown): void {
    this.#hear(text);
  }

  leave(): void {
    this.#end();
  }
}

beforeEach(() => {
  const onConnect = { addListener: (listener: never) => (connect = listener) };
  Object.assign(globalThis, { chrome: { runtime: { id: ID, onConnect } } });
});

const page = { id: ID, frameId: 0, origin: 'https://app.example' };
const calm = { isThere: true, isBehind: false, hearsOfPrivate: false };
const world = (daemon = { ...calm }): { relays: Relays; told: FromExtension[] } => {
  const told: FromExtension[] = [];
  const tell = (message: FromExtension) => {
    if (daemon.isThere) told.push(message);
    return daemon.isThere;
  };
  const relays = new Relays({ tell, isBehind: () => daemon.isBehind, hearsOfPrivate: () => daemon.hearsOfPrivate });
  relays.listen();
  return { relays, told };
};

test('a page is heard under the origin that Chrome tells, until it goes', () => {
  const { relays, told } = world();
  const port = new FakePort(page);
  connect(port);
  relays.hear({ type: 'pageTold', connection: 1, text: '' });
  port.hear('hello');
  port.hear({ type: 'pageOpened', origin: 'https://bank.example' });
  relays.hear({ type: 'pageTold', connection: 1, text: 'welcome' });
  expect(port.said).toEqual(['', 'welcome']);
  port.leave();
  port.leave();
  expect(told).toEqual([
    { type: 'pageOpened', connection: 1, origin: 'https://app.example' },
    { type: 'pageSaid', connection: 1, text: 'hello' },
    { type: 'pageEnded', connection: 1 },
  ]);
});

test('what a page says before the daemon has let it in is not passed on', () => {
  const { told } = world();
  const port = new FakePort(page);
  connect(port);
  port.hear('x'.repeat(1_000_000));
  expect([told.length, port.said]).toEqual([1, []]);
});

test('s9 a page that floods is ended, and the socket of the agents is not', () => {
  const daemon = { ...calm };
  const { relays, told } = world(daemon);
  const [loud, long, late] = [new FakePort(page), new FakePort(page), new FakePort(page)];
  connect(loud);
  connect(long);
  for (const connection of [1, 2]) relays.hear({ type: 'pageTold', connection, text: '' });
  long.hear('x'.repeat(LONGEST));
  expect([long.isOpen, told.at(-1)?.type]).toEqual([true, 'pageSaid']);
  long.hear('x'.repeat(LONGEST + 1));
  long.hear('more');
  expect([long.isOpen, told.at(-1)]).toEqual([false, { type: 'pageEnded', connection: 2 }]);
  daemon.isBehind = true;
  loud.hear('x');
  expect([loud.isOpen, told.at(-1)]).toEqual([false, { type: 'pageEnded', connection: 1 }]);
  connect(late);
  expect([late.isOpen, told.length]).toEqual([false, 5]);
});

test('frames, other extensions and other ports have none', () => {
  const { told } = world();
  connect(new FakePort({ ...page, frameId: 3 }));
  connect(new FakePort({ ...page, id: 'another' }));
  connect(new FakePort(page, 'panel'));
  expect(told).toEqual([]);
});

test('without a daemon, and with its end, all relays end', () => {
  const daemon = { ...calm };
  const { relays, told } = world(daemon);
  const [first, second, third] = [new FakePort(page), new FakePort(page), new FakePort(page)];
  connect(first);
  connect(second);
  relays.hear({ type: 'pageEnded', connection: 1 });
  expect([first.isOpen, second.isOpen]).toEqual([false, true]);
  daemon.isThere = false;
  relays.lost();
  expect(second.isOpen).toBe(false);
  connect(third);
  expect(third.isOpen).toBe(false);
  expect(told).toHaveLength(2);
});

test('a page in a private window is heard only while that is wanted', () => {
  const daemon = { ...calm };
  const { relays, told } = world(daemon);
  const secret = { ...page, tab: { incognito: true } };
  const early = new FakePort(secret);
  connect(early);
  expect([early.isOpen, told]).toEqual([false, []]);
  daemon.hearsOfPrivate = true;
  const [port, other] = [new FakePort(secret), new FakePort(page)];
  connect(port);
  connect(other);
  relays.endPrivate();
  expect([port.isOpen, told.length]).toEqual([true, 2]);
  daemon.hearsOfPrivate = false;
  relays.endPrivate();
  expect([port.isOpen, other.isOpen, told[2]]).toEqual([false, true, { type: 'pageEnded', connection: 1 }]);
});
