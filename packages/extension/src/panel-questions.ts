/** Questions to the user: may this tool run? Names and values in them are untrusted and always shown as plain text. */

import type { QuestionInfo } from './messages.js';
import { fill, find, make, plain, put, type Row, words } from './panel-parts.js';
import type { Want } from './panel-view.js';

export class Questions {
  #shown = '';
  #armedAt = 0;
  readonly #answered = new Set<string>();

  constructor(
    private readonly want: Want,
    /** Called when the buttons have become enabled. */
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
      // Another question may be under the pointer now. A user who was about to click needs time to notice.
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

  /** Announces a new question to screen readers. */
  #announce(news: QuestionInfo[], open: number): void {
    const [question] = news;
    if (question)
      words('said', `${plain(question.name)} asks whether ${plain(question.tool)} may run on ${plain(question.origin)}. Allow or refuse.`);
    else if (open === 0) words('said', '');
  }

  /** Moves the focus to the question if nothing has it. Never to a button, which could be pressed by accident. */
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
  if (values) [values.className, values.tabIndex, values.role, values.ariaLabel] = ['values', 0, 'region', "The tool's arguments"];
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
          ? 'The tool says that its effects may be hard to undo.'
          : 'It asks before every tool that may change something.',
      );
      const left = Math.max(0, Math.ceil((question.until - Date.now()) / 1_000));
      put(
        small,
        `The page and the agent chose these names and values. Your answer applies to this call only. Without an answer, the call is refused in ${left}\u00a0s.`,
      );
      [refuse.ariaLabel, allow.ariaLabel] = [`Refuse ${called}`, `Allow ${called}`];
      refuse.disabled = allow.disabled = !isArmed;
      answer = then;
    },
  };
}

/** The time in milliseconds that a user needs to notice a new question under the pointer. */
const ARMING = 600;
