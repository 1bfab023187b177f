/** The relays of pages: who may have one, what it carries, and how it ends. */

import { beforeEach, expect, test } from 'vitest';
import type { FromExtension } from '../src/messages.js';
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
const world = (daemon = { isThere: true, hearsOfPrivate: false }): { relays: Relays; told: FromExtension[] } => {
  const told: FromExtension[] = [];
  const tell = (message: FromExtension) => {
    if (daemon.isThere) told.push(message);
    return daemon.isThere;
  };
  const relays = new Relays(tell, () => daemon.hearsOfPrivate);
  relays.listen();
  return { relays, told };
};

test('a page is heard under the origin that Chrome tells, until it goes', () => {
  const { relays, told } = world();
  const port = new FakePort(page);
  connect(port);
  port.hear('hello');
  port.hear({ type: 'pageOpened', origin: 'https://bank.example' });
  relays.hear({ type: 'pageTold', connection: 1, text: 'welcome' });
  expect(port.said).toEqual(['welcome']);
  port.leave();
  port.leave();
  expect(told).toEqual([
    { type: 'pageOpened', connection: 1, origin: 'https://app.example' },
    { type: 'pageSaid', connection: 1, text: 'hello' },
    { type: 'pageEnded', connection: 1 },
  ]);
});

test('frames, other extensions and other ports have none', () => {
  const { told } = world();
  connect(new FakePort({ ...page, frameId: 3 }));
  connect(new FakePort({ ...page, id: 'another' }));
  connect(new FakePort(page, 'panel'));
  expect(told).toEqual([]);
});

test('without a daemon, and with its end, all relays end', () => {
  const daemon = { isThere: true, hearsOfPrivate: false };
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
  const daemon = { isThere: true, hearsOfPrivate: false };
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
