/** Every sentence that the panel makes of parts, for one and for several. */

import { expect, test } from 'vitest';
import { frontWords, moreRulesWords, tabsWords } from '../src/panel-words.js';

const agents = (names: string, following = '') => [...names].map((name) => ({ name, follows: following.includes(name) }));

test.each([
  ['', '', '', '', false, 'No agent works in this tab.'],
  ['', '', '', '', true, 'No agent works in this tab.'],
  ['', '', '', 'it is in a private window.', false, 'No agent can work in this tab: it is in a private window.'],
  ['', 'A', '', '', false, 'A works in this tab.'],
  ['', 'A', '', '', true, 'A works in this tab, and is paused.'],
  ['', 'A', 'A', '', false, 'A follows you and works in this tab.'],
  ['', 'A', 'A', '', true, 'A follows you and works in this tab, and is paused.'],
  ['', 'AB', '', '', false, 'A and B work in this tab.'],
  ['', 'AB', '', '', true, 'A and B work in this tab, and are paused.'],
  ['', 'AB', 'A', '', false, 'A and B work in this tab.'],
  ['', 'AB', 'AB', '', false, 'A and B follow you and work in this tab.'],
  ['', 'AB', 'AB', '', true, 'A and B follow you and work in this tab, and are paused.'],
  ['', 'ABC', '', '', false, 'A, B and C work in this tab.'],
  ['', 'ABCD', '', '', true, 'A, B, C and 1 more work in this tab, and are paused.'],
  ['', 'ABCDE', '', '', false, 'A, B, C and 2 more work in this tab.'],
  ['A', 'AB', '', '', false, 'A is acting in this tab right now.'],
  ['AB', 'AB', '', '', false, 'A and B are acting in this tab right now.'],
  ['ABC', '', '', '', false, 'A, B and C are acting in this tab right now.'],
])('acting %j, holding %j, following %j, closed %j, paused %j', (acting, holding, following, closed, paused, words) => {
  expect(frontWords(agents(acting, following), agents(holding, following), closed, paused)).toBe(words);
});

test.each([
  [0, 0, true, true, 'It has no tab in this browser yet.'],
  [0, 0, true, false, 'It has no tab in this browser yet.'],
  [0, 0, false, true, 'It works in another browser.'],
  [0, 0, false, false, 'It is not connected to a browser.'],
  [1, 0, true, true, ''],
  [30, 1, true, true, 'And 1 more tab.'],
  [30, 2, true, true, 'And 2 more tabs.'],
  [0, 1, true, true, 'It has 1 tab.'],
  [0, 2, true, true, 'It has 2 tabs.'],
])('%j tabs are shown, %j are not, here %j, connected %j', (shown, more, here, connected, words) => {
  expect(tabsWords(shown, more, { here, connected })).toBe(words);
});

test.each([
  [1, 'And 1 more; “tabmux policy list” in a terminal shows it.'],
  [2, 'And 2 more; “tabmux policy list” in a terminal shows them.'],
])('%j rules are not shown', (more, words) => {
  expect(moreRulesWords(more)).toBe(words);
});
