import { workerClient } from '@tabmux/page';
import React, { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Counter } from './Counter.jsx';

createRoot(document.querySelector('#root')).render(
  <StrictMode>
    <Counter />
  </StrictMode>,
);

workerClient.init(window.tabmuxOptions);
