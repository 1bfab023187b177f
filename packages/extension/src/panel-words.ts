/** Sentences of the panel that depend on numbers: singular and plural. */

/** What the sentences need to know about an agent. */
export interface Named {
  name: string;
  follows: boolean;
}

/** The state of the active tab: which agents act there now, which ones work there, or why none can. */
export function frontWords(acting: Named[], holders: Named[], closed: string, paused: boolean): string {
  const [actor] = acting;
  if (actor) return `${listed(acting)} ${acting.length > 1 ? 'are' : 'is'} acting in this tab right now.`;
  const [holder] = holders;
  if (!holder) return closed ? `No agent can work in this tab: ${closed}` : 'No agent works in this tab.';
  const isOne = holders.length === 1;
  const works = isOne ? 'works' : 'work';
  const does = holders.every(({ follows }) => follows) ? `${isOne ? 'follows' : 'follow'} you and ${works}` : works;
  return `${listed(holders)} ${does} in this tab${paused ? `, and ${isOne ? 'is' : 'are'} paused` : ''}.`;
}

/** How many more tabs an agent has than the panel shows, or that it has none. */
export function tabsWords(shown: number, more: number, { here, connected }: { here: boolean; connected: boolean }): string {
  const count = `${more}${shown > 0 ? ' more' : ''} ${more === 1 ? 'tab' : 'tabs'}`;
  if (more > 0) return shown > 0 ? `And ${count}.` : `It has ${count}.`;
  if (shown > 0) return '';
  if (here) return 'It has no tab in this browser yet.';
  return connected ? 'It works in another browser.' : 'It is not connected to a browser.';
}

/** Rules that are not shown. */
export function moreRulesWords(more: number): string {
  return `And ${more} more; “tabmux policy list” in a terminal shows ${more === 1 ? 'it' : 'them'}.`;
}

/** "A", "A and B", "A, B and C", "A, B, C and 2 more". */
function listed(agents: Named[]): string {
  const names = agents.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = agents.length - names.length;
  const parts = more > 0 ? [...names, `${more} more`] : names;
  const last = parts.at(-1) ?? '';
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${last}` : last;
}

const MOST_NAMES = 3;
