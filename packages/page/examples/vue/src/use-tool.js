/** A composable: a tool that lives as long as the component that offers it. */

import { workerClient } from '@tabmux/page';
import { onMounted, onUnmounted } from 'vue';

export function useTool(name, description, schema, handler) {
  onMounted(() => workerClient.registerTool(name, description, schema, handler));
  onUnmounted(() => workerClient.unregisterTool(name, handler));
}
