import { useTool } from '@tabmux/page/react';
import React, { useState } from 'react';

export function Counter() {
  const [count, setCount] = useState(0);
  const [isLocked, setLocked] = useState(false);

  useTool({
    name: 'get_count',
    description: 'Get the count of this tab.',
    annotations: { readOnlyHint: true },
    handler: () => ({ count }),
  });

  // While the counter is locked the tool is not there at all.
  useTool({
    name: 'add',
    description: 'Add a number to the count of this tab.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    enabled: !isLocked,
    handler: ({ amount }) => {
      setCount((before) => before + amount);
      return `Added ${amount}.`;
    },
  });

  return (
    <main>
      <output>{count}</output>
      <button type="button" onClick={() => setLocked(!isLocked)}>
        {isLocked ? 'Unlock' : 'Lock'}
      </button>
    </main>
  );
}
