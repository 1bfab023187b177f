/** Questions to the person: may this tool run? What strangers say in them is only ever shown as text. */

import type { QuestionInfo } from './messages.js';
import { fill, find, make, plain, put, type Row, words } from './panel-parts.js';
import type { Want } from './panel-view.js';

export class Questions {
  #shown = '';
  #armedAt = 0;
  readonly #answered = new Set<string>();

  constructor(
    private readonly want: Want,
    /** The buttons can be pressed now. */
    private readonly armed: () => void,
  ) {
    addEventListener('focus', () => this.#focusIfLost());
  }

  draw(questions: QuestionInfo[], colours: Map<string, string>): void {
    const list = find('question-list', HTMLElement);
    find('questions', HTMLElement).hidden = questions.length === 0;
    const hadFocus = list.contains(document.activeElement);
    const shown = questions.map(({ id }) => id).join();
    const known = new Set(this.#shown.split(','));
    const news = questions.filter(({ id }) => !known.has(id));
    if (shown !== this.#shown) {
      this.#shown = shown;
      // Something else is under the pointer now. Whoever was about to press must have time to see it.
      this.#armedAt = Date.now() + ARMING;
      setTimeout(this.armed, ARMING);
      for (const id of this.#answered) if (!shown.includes(id)) this.#answered.delete(id);
    }
    const isArmed = Date.now() >= this.#armedAt;
    fill(
      list,
      questions.map((question) => ({ key: question.id, question })),
      questionRow,
      (row, { question }) => {
        const { id } = question;
        row.show(question, colours.get(question.session) ?? '', isArmed && !this.#answered.has(id), (allowed) => {
          this.#answered.add(id);
          this.want({ type: 'answer', question: id, allowed });
        });
      },
    );
    this.#announce(news, questions.length);
    if (hadFocus && !list.contains(document.activeElement)) (firstCard() ?? find('top', HTMLElement)).focus();
    else this.#focusIfLost();
  }

  /** Says it to those who do not see it. */
  #announce(news: QuestionInfo[], open: number): void {
    const [question] = news;
    if (question)
      words('said', `${plain(question.name)} asks whether ${plain(question.tool)} may run on ${plain(question.origin)}. Allow or refuse.`);
    else if (open === 0) words('said', '');
  }

  /** The keyboard goes to the question, if it is nowhere else: never to a button, which may be pressed unseen. */
  #focusIfLost(): void {
    const { activeElement } = document;
    if (document.hasFocus() && (activeElement === null || activeElement === document.body)) firstCard()?.focus();
  }
}

function firstCard(): HTMLElement | null {
  return document.querySelector<HTMLElement>('.question');
}

function questionRow(): Row<[QuestionInfo, string, boolean, (allowed: boolean) => void]> {
  const element = make('li', 'question card');
  element.tabIndex = -1;
  element.role = 'group';
  const [head, dot, name] = [make('div', 'head'), make('span', 'dot'), make('h3', 'title')];
  dot.ariaHidden = 'true';
  name.dir = 'auto';
  head.append(dot, name);
  const facts = make('dl', 'facts');
  const [tool, site, values] = ['Tool', 'Site', 'With'].map((title) => {
    const [term, fact] = [make('dt', ''), make('dd', '')];
    term.textContent = title;
    fact.dir = 'ltr';
    facts.append(term, fact);
    return fact;
  });
  if (values) [values.className, values.tabIndex, values.role, values.ariaLabel] = ['values', 0, 'region', 'What the tool would be called with'];
  const [why, small, acts] = [make('p', 'why'), make('p', 'small'), make('div', 'acts')];
  const [refuse, allow] = [make('button', ''), make('button', '')];
  [refuse.textContent, allow.textContent] = ['Refuse', 'Allow'];
  refuse.type = allow.type = 'button';
  acts.append(refuse, allow);
  element.append(head, facts, why, small, acts);
  let answer: ((allowed: boolean) => void) | undefined;
  const say = (allowed: boolean) => {
    refuse.disabled = allow.disabled = true;
    answer?.(allowed);
  };
  refuse.addEventListener('click', () => say(false));
  allow.addEventListener('click', () => say(true));
  return {
    element,
    show(question, colour, isArmed, then) {
      element.className = `question card ${colour}`;
      const [agent, called, origin] = [plain(question.name), plain(question.tool), plain(question.origin)];
      put(name, `${agent} asks you`);
      element.ariaLabel = `${agent} asks whether ${called} may run on ${origin}`;
      if (tool) put(tool, called);
      if (site) put(site, origin);
      if (values) put(values, plain(question.arguments, 600));
      put(
        why,
        question.because === 'hardToUndo'
          ? 'The tool says that what it does may be hard to undo.'
          : 'It asks before every tool that may change something.',
      );
      const left = Math.max(0, Math.ceil((question.until - Date.now()) / 1_000));
      put(
        small,
        `Names and values are the words of the page and the agent. A yes is for this call alone. Without an answer it is refused in ${left}\u00a0s.`,
      );
      [refuse.ariaLabel, allow.ariaLabel] = [`Refuse ${called}`, `Allow ${called}`];
      refuse.disabled = allow.disabled = !isArmed;
      answer = then;
    },
  };
}

/** As long as a person takes to notice that something came up under their pointer. */
const ARMING = 600;
