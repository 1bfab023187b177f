/** The user's rules for sites: which one applies to the current site, and the list of all. The daemon evaluates them. */

import type { SiteInfo, SiteRule } from './messages.js';
import { type Act, fill, fillActs, find, make, put, type Row, words } from './panel-parts.js';
import type { ShownTab } from './panel-tabs.js';
import type { Want } from './panel-view.js';
import { moreRulesWords } from './panel-words.js';
import type { FromPanel, Overview } from './panels.js';

type Rules = Overview['rules'];

export class Sites {
  #site: SiteInfo | undefined;
  #asked = '';

  constructor(
    private readonly want: Want,
    /** Sends a request that is not an action of the user. Returns false if there is no connection. */
    private readonly ask: (wish: FromPanel) => boolean,
  ) {}

  /** The daemon has answered which rule applies to a site. */
  heard(site: SiteInfo): void {
    this.#site = site;
  }

  /** There is a new connection, on which nothing was asked yet. */
  forget(): void {
    [this.#site, this.#asked] = [undefined, ''];
  }

  drawSite(rules: Rules | undefined, tab: ShownTab | undefined): void {
    const origin = tab?.origin;
    const place = find('site', HTMLElement);
    if (!rules || origin === undefined) {
      place.hidden = true;
      return;
    }
    const question = `${origin} ${JSON.stringify(rules)}`;
    if (question !== this.#asked && this.ask({ type: 'site', origin })) this.#asked = question;
    const site = this.#site?.origin === origin ? this.#site : undefined;
    place.hidden = !site;
    if (!site) return;
    place.className = site.allowed ? 'site' : 'site closed';
    words('site-state', siteWords(site, rules));
    fillActs(find('site-acts', HTMLElement), this.#siteActs(site, rules));
  }

  #siteActs({ origin, allowed, rule, alone }: SiteInfo, rules: Rules): Act[] {
    if (rules.problem !== undefined) return [];
    const act = (key: string, text: string, rule: SiteRule): Act => ({ key, text, act: () => this.want({ type: 'rule', origin, rule }) });
    const block = act('block', 'Block this site', 'block');
    if (!allowed) return rule === undefined ? [act('allow', 'Allow this site', 'allow')] : alone ? [act('none', 'Unblock this site', 'none')] : [];
    if (rule === undefined) return [block, act('allow', 'Allow only this site', 'allow')];
    return alone ? [block, act('none', removal(rules), 'none')] : [block];
  }

  drawRules(rules: Rules | undefined, knowsPrivate: boolean): void {
    const { allowed = [], blocked = [], more = 0, privateWindows = false, problem } = rules ?? {};
    const showsPrivate = privateWindows || knowsPrivate;
    const isEmpty = allowed.length + blocked.length === 0 && problem === undefined && !showsPrivate;
    find('rules', HTMLElement).hidden = !rules || isEmpty;
    if (!rules) return;
    words('rules-words', rulesWords(rules));
    const row = (kind: 'Allowed' | 'Blocked') => (pattern: string) => ({ key: `${kind} ${pattern}`, kind, pattern });
    fill(find('rule-list', HTMLElement), [...allowed.map(row('Allowed')), ...blocked.map(row('Blocked'))], ruleRow, (row, { kind, pattern }) =>
      row.show(kind, pattern, kind === 'Allowed' ? removal(rules) : 'Unblock', () => this.want({ type: 'rule', origin: pattern, rule: 'none' })),
    );
    find('rules-more', HTMLElement).hidden = more === 0;
    words('rules-more', moreRulesWords(more));
    find('private', HTMLElement).hidden = !showsPrivate;
    words('private-words', privateWindows ? 'Agents may work in private windows.' : 'Agents may not work in private windows.');
    fillActs(find('private-acts', HTMLElement), [
      {
        key: 'private',
        text: privateWindows ? 'Block private windows' : 'Allow private windows',
        act: () => this.want({ type: 'privateWindows', allowed: !privateWindows }),
      },
    ]);
  }
}

function siteWords({ allowed, rule, alone }: SiteInfo, { problem }: Rules): string {
  if (problem !== undefined) return 'Agents may not act on any site: your rules cannot be read.';
  const by = rule === undefined || alone ? '' : ` ${rule}`;
  if (allowed) return rule === undefined ? 'Agents may act on this site.' : `Agents may act on this site: you allow${by || ' it'}.`;
  return rule === undefined
    ? 'Agents may not act on this site: you allow only other sites.'
    : `Agents may not act on this site: you block${by || ' it'}.`;
}

function rulesWords({ allowed, blocked, problem }: Rules): string {
  if (problem !== undefined)
    return `Your rules cannot be read, so agents may not act on any site: ${problem}. Run “tabmux policy list” in a terminal.`;
  if (allowed.length > 0) return 'Agents may act only on the sites that you allow.';
  return blocked.length > 0 ? 'Agents may act on all sites except these:' : '';
}

/** If the last allowed site is removed, all sites are allowed. The label of the button has to say so. */
function removal({ allowed, more }: Rules): string {
  return allowed.length === 1 && more === 0 ? 'Allow all sites' : 'Stop allowing';
}

function ruleRow(): Row<['Allowed' | 'Blocked', string, string, () => void]> {
  const element = make('li', 'rule');
  const [kind, pattern, remove] = [make('span', 'kind'), make('span', 'pattern'), make('button', 'back')];
  remove.type = 'button';
  pattern.dir = 'ltr';
  const about = make('div', 'about');
  about.append(pattern, kind);
  element.append(about, remove);
  let press: (() => void) | undefined;
  remove.addEventListener('click', () => press?.());
  return {
    element,
    show(is, text, removal, act) {
      kind.className = `kind ${is.toLowerCase()}`;
      put(kind, is);
      put(pattern, text);
      pattern.title = text;
      put(remove, removal);
      remove.ariaLabel = `${removal}: ${text}`;
      press = act;
    },
  };
}
