/** Chrome's debugger: attached and let go in order, and "Cancel" is heard. */

import { expect, test, vi } from 'vitest';
import type { FromExtension } from '../src/messages.js';
import { Tunnel } from '../src/tunnel.js';

test('a tab is attached and let go one after the other, and "Cancel" in the bar is told', async () => {
  const did: string[] = [];
  let detached: ((source: { tabId?: number }, reason: string) => void) | undefined;
  let release: (() => void) | undefined;
  Object.assign(globalThis, {
    chrome: {
      debugger: {
        onEvent: { addListener: () => undefined },
        onDetach: { addListener: (listener: typeof detached) => void (detached = listener) },
        attach: async ({ tabId }: { tabId: number }) => void did.push(`attach ${tabId}`),
        detach: async ({ tabId }: { tabId: number }) => {
          await new Promise<void>((resolve) => (release = resolve));
          did.push(`detach ${tabId}`);
        },
        getTargets: async () => [
          { attached: true, tabId: 1 },
          { attached: false, tabId: 2 },
          { attached: true },
        ],
      },
    },
  });
  const told: FromExtension[] = [];
  const cancelled: number[] = [];
  const tunnel = new Tunnel(
    (message) => told.push(message),
    (tabId) => cancelled.push(tabId),
  );
  tunnel.listen();
  await tunnel.attach(1);
  const [gone, again, other] = [tunnel.detach(1), tunnel.attach(1), tunnel.attach(2)];
  await other;
  expect(did).toEqual(['attach 1', 'attach 2']);
  release?.();
  await Promise.all([gone, again]);
  expect(did).toEqual(['attach 1', 'attach 2', 'detach 1', 'attach 1']);
  release = undefined;
  const all = tunnel.letGo();
  (await vi.waitUntil(() => release))();
  await all;
  expect(did.at(-1)).toBe('detach 1');
  detached?.({ tabId: 1 }, 'target_closed');
  detached?.({ tabId: 2 }, 'canceled_by_user');
  expect(told).toEqual([
    { type: 'detached', tabId: 1, reason: 'target_closed' },
    { type: 'detached', tabId: 2, reason: 'canceled_by_user' },
  ]);
  expect(cancelled).toEqual([2]);
});
