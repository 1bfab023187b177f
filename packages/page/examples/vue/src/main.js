/** A Vue application with one component that offers a tool. */

import { workerClient } from '@tabmux/page';
import { createApp } from 'vue';
import Basket from './Basket.vue';

createApp(Basket).mount('#root');
workerClient.init(window.tabmuxOptions);
