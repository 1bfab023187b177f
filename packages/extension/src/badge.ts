/** The extension's button: shows whether tabmux is connected, and whether a question waits for the user. */

export class Badge {
  #state = '';
  #questions = 0;

  /** The state of the connection: `connected`, or the reason why there is none. */
  link(state: string): void {
    this.#state = state;
    if (state !== 'connected') this.#questions = 0;
    this.#show();
  }

  questions(count: number): void {
    if (count === this.#questions) return;
    this.#questions = count;
    this.#show();
  }

  #show(): void {
    const waiting = this.#questions;
    const words = waiting === 0 ? this.#state : waiting === 1 ? 'an agent waits for your answer' : `${waiting} questions wait for your answer`;
    void chrome.action.setTitle({ title: `tabmux Browser Tools: ${words}` });
    void chrome.action.setBadgeText({ text: waiting > 0 ? String(waiting) : this.#state === 'connected' ? '' : 'off' });
    void chrome.action.setBadgeBackgroundColor({ color: waiting > 0 ? WAITING : AWAY });
    void chrome.action.setBadgeTextColor({ color: '#ffffff' });
  }
}

const WAITING = '#b3261e';
const AWAY = '#5c636e';
