/** Finds a worker for the page: a shared worker, else a service worker, else a dedicated one. */

import type { ToPage, ToWorker } from './messages.js';
import type { WorkerKind } from './wire.js';

/** A worker that has answered. */
export interface Link {
  kind: WorkerKind;
  port: MessagePort;
  /** Wakes a service worker, which browsers put to sleep when no event comes. */
  wake(): void;
  post(message: ToWorker): void;
  close(): void;
}

export interface LinkOptions {
  /** The address of the worker's script. Needed only where the bundler does not find it. */
  workerUrl?: string | URL;
  /** Which kind to use; `auto` tries them in order. */
  worker?: WorkerKind | 'auto';
}

/** The first kind of worker that answers. */
export async function openLink({ workerUrl, worker = 'auto' }: LinkOptions, receive: (message: ToPage, ports: MessagePort[]) => void): Promise<Link> {
  const kinds: WorkerKind[] = worker === 'auto' ? ['shared', 'service', 'dedicated'] : [worker];
  const failures: string[] = [];
  for (const kind of kinds) {
    try {
      return await ready(kind, await OPENERS[kind](workerUrl), receive);
    } catch (error) {
      failures.push(`${kind}: ${(error as Error).message}`);
    }
  }
  throw new Error(`No worker could be started (${failures.join('; ')}). Serve its script from this origin, or pass its URL as workerUrl.`);
}

interface Opened {
  port: MessagePort;
  /** Where errors of the script are reported. */
  owner?: EventTarget;
  wake?: () => void;
  close?: () => void;
}

function ready(
  kind: WorkerKind,
  { port, owner, wake = () => {}, close = () => {} }: Opened,
  receive: (message: ToPage, ports: MessagePort[]) => void,
): Promise<Link> {
  const link: Link = {
    kind,
    port,
    wake,
    post: (message) => port.postMessage(message),
    close: () => {
      port.onmessage = null;
      port.close();
      close();
    },
  };
  return new Promise((resolve, reject) => {
    let fail = (reason: string): void => {
      link.close();
      reject(new Error(reason));
    };
    setTimeout(() => fail('it does not answer'), PATIENCE);
    owner?.addEventListener('error', () => fail('its script cannot be loaded'));
    port.onmessage = () => {
      fail = () => {};
      port.onmessage = (event: MessageEvent<ToPage>) => receive(event.data, event.ports as MessagePort[]);
      resolve(link);
    };
  });
}

// Bundlers look for exactly this form, so it is written out each time.
const OPENERS: Record<WorkerKind, (url?: string | URL) => Opened | Promise<Opened>> = {
  shared(url) {
    const worker = url
      ? new SharedWorker(url, { type: 'module', name: 'tabmux' })
      : new SharedWorker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'tabmux' });
    return { port: worker.port, owner: worker };
  },
  async service(url) {
    const script = url ?? new URL('./worker.js', import.meta.url);
    // Its scope contains no page, so it does not replace a service worker of the application.
    const registration = await navigator.serviceWorker.register(script, { scope: `${script}/` });
    const worker = await activeWorker(registration);
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    return { port: port1, wake: () => (registration.active ?? worker).postMessage(null) };
  },
  dedicated(url) {
    const worker = url
      ? new Worker(url, { type: 'module', name: 'tabmux' })
      : new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'tabmux' });
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    return { port: port1, owner: worker, close: () => worker.terminate() };
  },
};

function activeWorker(registration: ServiceWorkerRegistration): Promise<ServiceWorker> {
  return new Promise((resolve, reject) => {
    const coming = registration.installing ?? registration.waiting;
    const look = (): void => {
      if (registration.active) resolve(registration.active);
      else if (!coming || coming.state === 'redundant') reject(new Error('its script cannot be installed'));
    };
    coming?.addEventListener('statechange', look);
    look();
  });
}

/** How long a worker has time to answer, in milliseconds. */
const PATIENCE = 5000;
