/** The types as an application sees them; compiled against the installed package, never run. */

import { type ConnectionStatus, type TabInfo, WorkerClient, workerClient } from '@tabmux/page';
import { useTool } from '@tabmux/page/react';

export async function use(): Promise<[TabInfo, ConnectionStatus, string, boolean]> {
  await workerClient.init({ daemonUrl: 'ws://127.0.0.1:8765/page', worker: 'shared', webMcp: false });
  await workerClient.registerTool('one', async () => ({ content: [{ type: 'text', text: 'x' }] }));
  await workerClient.registerTool('two', 'Two', { type: 'object' }, ({ id }) => id, { annotations: { readOnlyHint: true } });
  useTool({ name: 'three', handler: () => 3 });
  WorkerClient.clearTabId();
  const stop: () => void = workerClient.onToolChange((names: string[]) => names.join());
  stop();
  return [workerClient.getTabInfo(), workerClient.getConnectionStatus(), workerClient.getTabId(), await workerClient.unregisterTool('one')];
}
