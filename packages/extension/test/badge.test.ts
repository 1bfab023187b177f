/** The extension's button. */

import { expect, test } from 'vitest';
import { Badge } from '../src/badge.js';

test('the button shows the state, and goes red while a question waits', () => {
  const shown: Record<string, unknown> = {};
  const set = async (what: object) => void Object.assign(shown, what);
  Object.assign(globalThis, { chrome: { action: { setTitle: set, setBadgeText: set, setBadgeBackgroundColor: set, setBadgeTextColor: set } } });
  const badge = new Badge();
  badge.link('The daemon has stopped.');
  expect(shown).toMatchObject({ text: 'off', title: 'tabmux Browser Tools: The daemon has stopped.' });
  const calm = shown['color'];
  badge.link('connected');
  expect(shown).toMatchObject({ text: '', title: 'tabmux Browser Tools: connected' });
  badge.questions(2);
  expect(shown).toMatchObject({ text: '2', title: 'tabmux Browser Tools: 2 questions wait for your answer' });
  badge.questions(1);
  expect(shown).toMatchObject({ text: '1', title: 'tabmux Browser Tools: an agent waits for your answer' });
  badge.questions(0);
  expect(shown).toMatchObject({ text: '', title: 'tabmux Browser Tools: connected' });
  badge.questions(1);
  badge.link('The daemon has stopped.');
  expect(shown).toMatchObject({ text: 'off' });
  badge.link('connected');
  expect(shown).toMatchObject({ text: '' });
  expect(calm).toBeDefined();
});
