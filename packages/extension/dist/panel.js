"use strict";
(() => {
  // src/panel-parts.ts
  function find(id, kind) {
    const element = document.getElementById(id);
    if (!(element instanceof kind)) throw new Error(`There is no ${id}.`);
    return element;
  }
  function words(id, text) {
    put(find(id, HTMLElement), text);
  }
  var rows = /* @__PURE__ */ new WeakMap();
  function fill(list, items, make2, show) {
    const known = new Map(Array.from(list.children, (child) => [rows.get(child)?.key, child]));
    let next = list.firstElementChild;
    for (const item of items) {
      const element = known.get(item.key);
      known.delete(item.key);
      const row = element ? rows.get(element)?.row : make2();
      if (!element) rows.set(row.element, { key: item.key, row });
      show(row, item);
      if (row.element === next) next = next.nextElementSibling;
      else list.insertBefore(row.element, next);
    }
    for (const gone of known.values()) gone.remove();
  }
  function fillActs(place2, acts) {
    fill(place2, acts, actButton, (row, { text, act }) => row.show(text, act));
  }
  function actButton() {
    const element = make("button", "");
    element.type = "button";
    let press;
    element.addEventListener("click", () => press?.());
    return {
      element,
      show(text, act) {
        put(element, text);
        press = act;
      }
    };
  }
  function make(tag, className) {
    const element = document.createElement(tag);
    element.className = className;
    return element;
  }
  function put(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  function plain(text, limit = 200) {
    const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
    return line.length > limit ? `${line.slice(0, limit)}…` : line;
  }

  // src/panel-questions.ts
  var Questions = class {
    constructor(want2, armed) {
      this.want = want2;
      this.armed = armed;
      addEventListener("focus", () => this.#focusIfLost());
    }
    want;
    armed;
    #shown = "";
    #armedAt = 0;
    #answered = /* @__PURE__ */ new Set();
    draw(questions2, colours) {
      const list = find("question-list", HTMLElement);
      find("questions", HTMLElement).hidden = questions2.length === 0;
      const hadFocus = list.contains(document.activeElement);
      const shown2 = questions2.map(({ id }) => id).join();
      const known = new Set(this.#shown.split(","));
      const news = questions2.filter(({ id }) => !known.has(id));
      if (shown2 !== this.#shown) {
        this.#shown = shown2;
        this.#armedAt = Date.now() + ARMING;
        setTimeout(this.armed, ARMING);
        for (const id of this.#answered) if (!shown2.includes(id)) this.#answered.delete(id);
      }
      const isArmed = Date.now() >= this.#armedAt;
      fill(
        list,
        questions2.map((question) => ({ key: question.id, question })),
        questionRow,
        (row, { question }) => {
          const { id } = question;
          row.show(question, colours.get(question.session) ?? "", isArmed && !this.#answered.has(id), (allowed) => {
            this.#answered.add(id);
            this.want({ type: "answer", question: id, allowed });
          });
        }
      );
      this.#announce(news, questions2.length);
      if (hadFocus && !list.contains(document.activeElement)) (firstCard() ?? find("top", HTMLElement)).focus();
      else this.#focusIfLost();
    }
    /** Announces a new question to screen readers. */
    #announce(news, open) {
      const [question] = news;
      if (question)
        words("said", `${plain(question.name)} asks whether ${plain(question.tool)} may run on ${plain(question.origin)}. Allow or refuse.`);
      else if (open === 0) words("said", "");
    }
    /** Moves the focus to the question if nothing has it. Never to a button, which could be pressed by accident. */
    #focusIfLost() {
      const { activeElement } = document;
      if (document.hasFocus() && (activeElement === null || activeElement === document.body)) firstCard()?.focus();
    }
  };
  function firstCard() {
    return document.querySelector(".question");
  }
  function questionRow() {
    const element = make("li", "question card");
    element.tabIndex = -1;
    element.role = "group";
    const [head, dot, name] = [make("div", "head"), make("span", "dot"), make("h3", "title")];
    dot.ariaHidden = "true";
    name.dir = "auto";
    head.append(dot, name);
    const facts = make("dl", "facts");
    const [tool, site, values] = ["Tool", "Site", "With"].map((title) => {
      const [term, fact] = [make("dt", ""), make("dd", "")];
      term.textContent = title;
      fact.dir = "ltr";
      facts.append(term, fact);
      return fact;
    });
    if (values) [values.className, values.tabIndex, values.role, values.ariaLabel] = ["values", 0, "region", "The tool's arguments"];
    const [why, small, acts] = [make("p", "why"), make("p", "small"), make("div", "acts")];
    const [refuse, allow] = [make("button", ""), make("button", "")];
    [refuse.textContent, allow.textContent] = ["Refuse", "Allow"];
    refuse.type = allow.type = "button";
    acts.append(refuse, allow);
    element.append(head, facts, why, small, acts);
    let answer;
    const say = (allowed) => {
      refuse.disabled = allow.disabled = true;
      answer?.(allowed);
    };
    refuse.addEventListener("click", () => say(false));
    allow.addEventListener("click", () => say(true));
    return {
      element,
      show(question, colour, isArmed, then) {
        element.className = `question card ${colour}`;
        const [agent, called, origin2] = [plain(question.name), plain(question.tool), plain(question.origin)];
        put(name, `${agent} asks you`);
        element.ariaLabel = `${agent} asks whether ${called} may run on ${origin2}`;
        if (tool) put(tool, called);
        if (site) put(site, origin2);
        if (values) put(values, plain(question.arguments, 600));
        put(
          why,
          question.because === "hardToUndo" ? "The tool says that its effects may be hard to undo." : "It asks before every tool that may change something."
        );
        const left = Math.max(0, Math.ceil((question.until - Date.now()) / 1e3));
        put(
          small,
          `The page and the agent chose these names and values. Your answer applies to this call only. Without an answer, the call is refused in ${left} s.`
        );
        [refuse.ariaLabel, allow.ariaLabel] = [`Refuse ${called}`, `Allow ${called}`];
        refuse.disabled = allow.disabled = !isArmed;
        answer = then;
      }
    };
  }
  var ARMING = 600;

  // src/panel-words.ts
  function frontWords(acting, holders, closed, paused) {
    const [actor] = acting;
    if (actor) return `${listed(acting)} ${acting.length > 1 ? "are" : "is"} acting in this tab right now.`;
    const [holder] = holders;
    if (!holder) return closed ? `No agent can work in this tab: ${closed}` : "No agent works in this tab.";
    const isOne = holders.length === 1;
    const works = isOne ? "works" : "work";
    const does = holders.every(({ follows }) => follows) ? `${isOne ? "follows" : "follow"} you and ${works}` : works;
    return `${listed(holders)} ${does} in this tab${paused ? `, and ${isOne ? "is" : "are"} paused` : ""}.`;
  }
  function tabsWords(shown2, more, { here, connected }) {
    const count = `${more}${shown2 > 0 ? " more" : ""} ${more === 1 ? "tab" : "tabs"}`;
    if (more > 0) return shown2 > 0 ? `And ${count}.` : `It has ${count}.`;
    if (shown2 > 0) return "";
    if (here) return "It has no tab in this browser yet.";
    return connected ? "It works in another browser." : "It is not connected to a browser.";
  }
  function moreRulesWords(more) {
    return `And ${more} more; “tabmux policy list” in a terminal shows ${more === 1 ? "it" : "them"}.`;
  }
  function listed(agents) {
    const names = agents.slice(0, MOST_NAMES).map(({ name }) => name);
    const more = agents.length - names.length;
    const parts = more > 0 ? [...names, `${more} more`] : names;
    const last = parts.at(-1) ?? "";
    return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${last}` : last;
  }
  var MOST_NAMES = 3;

  // src/panel-rules.ts
  var Sites = class {
    constructor(want2, ask) {
      this.want = want2;
      this.ask = ask;
    }
    want;
    ask;
    #site;
    #asked = "";
    /** The daemon has answered which rule applies to a site. */
    heard(site) {
      this.#site = site;
    }
    /** There is a new connection, on which nothing was asked yet. */
    forget() {
      [this.#site, this.#asked] = [void 0, ""];
    }
    drawSite(rules, tab) {
      const origin2 = tab?.origin;
      const place2 = find("site", HTMLElement);
      if (!rules || origin2 === void 0) {
        place2.hidden = true;
        return;
      }
      const question = `${origin2} ${JSON.stringify(rules)}`;
      if (question !== this.#asked && this.ask({ type: "site", origin: origin2 })) this.#asked = question;
      const site = this.#site?.origin === origin2 ? this.#site : void 0;
      place2.hidden = !site;
      if (!site) return;
      place2.className = site.allowed ? "site" : "site closed";
      words("site-state", siteWords(site, rules));
      fillActs(find("site-acts", HTMLElement), this.#siteActs(site, rules));
    }
    #siteActs({ origin: origin2, allowed, rule, alone }, rules) {
      if (rules.problem !== void 0) return [];
      const act = (key, text, rule2) => ({ key, text, act: () => this.want({ type: "rule", origin: origin2, rule: rule2 }) });
      const block = act("block", "Block this site", "block");
      if (!allowed) return rule === void 0 ? [act("allow", "Allow this site", "allow")] : alone ? [act("none", "Unblock this site", "none")] : [];
      if (rule === void 0) return [block, act("allow", "Allow only this site", "allow")];
      return alone ? [block, act("none", removal(rules), "none")] : [block];
    }
    drawRules(rules, knowsPrivate) {
      const { allowed = [], blocked = [], more = 0, privateWindows = false, problem } = rules ?? {};
      const showsPrivate = privateWindows || knowsPrivate;
      const isEmpty = allowed.length + blocked.length === 0 && problem === void 0 && !showsPrivate;
      find("rules", HTMLElement).hidden = !rules || isEmpty;
      if (!rules) return;
      words("rules-words", rulesWords(rules));
      const row = (kind) => (pattern) => ({ key: `${kind} ${pattern}`, kind, pattern });
      fill(
        find("rule-list", HTMLElement),
        [...allowed.map(row("Allowed")), ...blocked.map(row("Blocked"))],
        ruleRow,
        (row2, { kind, pattern }) => row2.show(kind, pattern, kind === "Allowed" ? removal(rules) : "Unblock", () => this.want({ type: "rule", origin: pattern, rule: "none" }))
      );
      find("rules-more", HTMLElement).hidden = more === 0;
      words("rules-more", moreRulesWords(more));
      find("private", HTMLElement).hidden = !showsPrivate;
      words("private-words", privateWindows ? "Agents may work in private windows." : "Agents may not work in private windows.");
      fillActs(find("private-acts", HTMLElement), [
        {
          key: "private",
          text: privateWindows ? "Block private windows" : "Allow private windows",
          act: () => this.want({ type: "privateWindows", allowed: !privateWindows })
        }
      ]);
    }
  };
  function siteWords({ allowed, rule, alone }, { problem }) {
    if (problem !== void 0) return "Agents may not act on any site: your rules cannot be read.";
    const by = rule === void 0 || alone ? "" : ` ${rule}`;
    if (allowed) return rule === void 0 ? "Agents may act on this site." : `Agents may act on this site: you allow${by || " it"}.`;
    return rule === void 0 ? "Agents may not act on this site: you allow only other sites." : `Agents may not act on this site: you block${by || " it"}.`;
  }
  function rulesWords({ allowed, blocked, problem }) {
    if (problem !== void 0)
      return `Your rules cannot be read, so agents may not act on any site: ${problem}. Run “tabmux policy list” in a terminal.`;
    if (allowed.length > 0) return "Agents may act only on the sites that you allow.";
    return blocked.length > 0 ? "Agents may act on all sites except these:" : "";
  }
  function removal({ allowed, more }) {
    return allowed.length === 1 && more === 0 ? "Allow all sites" : "Stop allowing";
  }
  function ruleRow() {
    const element = make("li", "rule");
    const [kind, pattern, remove] = [make("span", "kind"), make("span", "pattern"), make("button", "back")];
    remove.type = "button";
    pattern.dir = "ltr";
    const about = make("div", "about");
    about.append(pattern, kind);
    element.append(about, remove);
    let press;
    remove.addEventListener("click", () => press?.());
    return {
      element,
      show(is, text, removal2, act) {
        kind.className = `kind ${is.toLowerCase()}`;
        put(kind, is);
        put(pattern, text);
        pattern.title = text;
        put(remove, removal2);
        remove.ariaLabel = `${removal2}: ${text}`;
        press = act;
      }
    };
  }

  // src/panel-tabs.ts
  async function knownTabs(ids) {
    const wanted = new Set(ids);
    const tabs = wanted.size > 0 ? await chrome.tabs.query({}) : [];
    return new Map(tabs.flatMap((tab) => tab.id !== void 0 && wanted.has(tab.id) ? [[tab.id, shown(tab)]] : []));
  }
  var FrontTab = class {
    #own = chrome.tabs.getCurrent();
    constructor(changed) {
      chrome.tabs.onActivated.addListener(changed);
      chrome.tabs.onRemoved.addListener(changed);
      chrome.tabs.onUpdated.addListener((_, { title, url }) => (title !== void 0 || url !== void 0) && changed());
      chrome.windows.onFocusChanged.addListener(changed);
    }
    async tab() {
      const own = await this.#own;
      const active = await chrome.tabs.query({ active: true, windowType: "normal", ...own ? {} : { currentWindow: true } });
      const [tab] = active.filter(({ windowId }) => windowId !== own?.windowId).sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
      return tab && shown(tab);
    }
  };
  function shown(tab) {
    const url = tab.url || tab.pendingUrl || "";
    return {
      id: tab.id ?? -1,
      windowId: tab.windowId,
      title: plain(tab.title ?? "") || "Untitled",
      place: plain(place(url)),
      origin: origin(url),
      isPrivate: tab.incognito,
      open: /^(https?:|about:blank$)/.test(url) && !/^https:\/\/(chromewebstore\.google\.com|chrome\.google\.com\/webstore)/.test(url)
    };
  }
  function place(url) {
    try {
      const { host, protocol } = new URL(url);
      return host || protocol.replace(/:$/, "");
    } catch {
      return "";
    }
  }
  function origin(url) {
    return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : void 0;
  }

  // src/panel-view.ts
  function agentRow() {
    const element = make("li", "agent card");
    const head = make("div", "head");
    const [dot, name, doing] = [make("span", "dot"), make("span", "title"), make("p", "doing")];
    const [tabs, none] = [make("ul", "tabs"), make("p", "none")];
    dot.ariaHidden = "true";
    name.dir = "auto";
    head.append(dot, name);
    const [follow, follows, followWords] = [make("label", "follow"), make("input", "switch"), make("span", "")];
    follows.type = "checkbox";
    follows.role = "switch";
    followWords.textContent = "Follows you from tab to tab";
    follow.append(follows, followWords);
    element.append(head, doing, tabs, none, follow);
    let turn;
    follows.addEventListener("change", () => turn?.(follows.checked));
    return {
      element,
      show(agent, around) {
        follow.hidden = !agent.here;
        follows.checked = agent.follows;
        follows.ariaLabel = `${agent.name} follows you from tab to tab`;
        const { session } = agent;
        const front2 = around.front === void 0 ? {} : { tabId: around.front };
        turn = (follows2) => around.want({ type: "follow", session, follows: follows2, ...front2 });
        const busy = agent.doing.length > 0;
        element.className = `agent card ${agent.colour}${busy ? " busy" : ""}`;
        put(name, agent.name);
        doing.className = busy ? "doing busy" : "doing";
        put(doing, busy ? doings(agent) : around.paused ? "Paused" : "Waiting for its next call");
        const shown2 = agent.tabs.filter(({ tabId }) => around.tabs.has(tabId));
        fill(
          tabs,
          shown2.map((tab) => ({ key: String(tab.tabId), tab })),
          tabRow,
          (row, { tab }) => row.show(around.tabs.get(tab.tabId), tab.own, around)
        );
        const more = tabsWords(shown2.length, agent.moreTabs, agent);
        none.hidden = more === "";
        put(none, more);
      }
    };
  }
  function tabRow() {
    const element = make("li", "tab");
    const show = make("button", "show");
    const back = make("button", "back");
    const [title, place2] = [make("span", "title"), make("span", "place")];
    title.dir = "auto";
    show.append(title, place2);
    show.type = back.type = "button";
    back.textContent = "Take back";
    element.append(show, back);
    let acts;
    show.addEventListener("click", () => acts?.show());
    back.addEventListener("click", () => acts?.back());
    return {
      element,
      show(tab, own, { front: front2, want: want2 }) {
        if (!tab) return;
        put(title, tab.title);
        const where = [tab.id === front2 ? "in front" : "", own ? "" : "yours", tab.place];
        put(place2, where.filter(Boolean).join(" · "));
        show.title = tab.title;
        back.ariaLabel = `Take back ${tab.title}`;
        acts = { show: () => void bringToFront(tab), back: () => want2({ type: "takeBack", tabId: tab.id }) };
      }
    };
  }
  function frontCard(section, { agents, paused, rules }, tab, want2) {
    const [title, place2, acts] = [find("front-page", HTMLElement), find("front-place", HTMLElement), find("front-acts", HTMLElement)];
    const card = section.querySelector(".card");
    title.dir = "auto";
    put(title, tab.title);
    title.title = tab.title;
    put(place2, tab.place);
    const holders = agents.filter(({ tabs }) => tabs.some(({ tabId }) => tabId === tab.id));
    const acting = agents.filter(({ doing }) => doing.some(({ tabId }) => tabId === tab.id));
    const [active] = acting;
    const [holder] = holders;
    const watched = active ?? holder;
    if (card) card.className = watched ? `card watched ${active ? "acting " : ""}${watched.colour}` : "card";
    const closed = !tab.open ? "Chrome does not let extensions work in it." : tab.isPrivate && !rules.privateWindows ? "it is in a private window." : "";
    words("front-state", frontWords(acting, holders, closed, paused));
    const takers = agents.filter((agent) => agent.here && agent !== holder);
    const gifts = closed ? [] : takers;
    fillActs(acts, [
      ...holder ? [{ key: "back", text: "Take it back", act: () => want2({ type: "takeBack", tabId: tab.id }) }] : [],
      ...gifts.map((agent) => ({
        key: agent.session,
        text: `Give it to ${agent.name}`,
        act: () => want2({ type: "give", tabId: tab.id, session: agent.session })
      }))
    ]);
  }
  function doings({ doing, moreDoing }) {
    const more = doing.length - 1 + moreDoing;
    const [first] = doing;
    return first ? `${first.tool} · ${elapsed(first)}${more > 0 ? ` · and ${more} more` : ""}` : "";
  }
  function elapsed({ since }) {
    const seconds = Math.max(0, Math.round((Date.now() - since) / 1e3));
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
  async function bringToFront(tab) {
    await chrome.tabs.update(tab.id, { active: true }).catch(() => void 0);
    await chrome.windows.update(tab.windowId, { focused: true }).catch(() => void 0);
  }

  // src/panels.ts
  var PANEL = "panel";

  // src/panel.ts
  var state;
  var port;
  var drawing = Promise.resolve();
  var front = new FrontTab(redraw);
  var questions = new Questions(want, redraw);
  var sites = new Sites(want, post);
  find("pause", HTMLButtonElement).addEventListener("click", () => want({ type: state?.overview?.paused ? "resume" : "pause" }));
  connect();
  setInterval(() => isTimeShown() && redraw(), 1e3);
  function isTimeShown() {
    const { agents = [], questions: questions2 = [] } = state?.overview ?? {};
    return questions2.length > 0 || agents.some(({ doing }) => doing.length > 0);
  }
  function connect() {
    port = chrome.runtime.connect({ name: PANEL });
    port.onMessage.addListener((message) => {
      if (message.type === "denied") return notice(message.reason);
      if (message.type === "site") sites.heard(message.site);
      else state = message;
      redraw();
    });
    port.onDisconnect.addListener(() => {
      sites.forget();
      state = { type: "state", connected: false, why: "Looking for tabmux on this machine.", overview: void 0 };
      redraw();
      setTimeout(connect, RETRY);
    });
  }
  function want(wish) {
    notice(post(wish) ? "" : "tabmux is being looked for, so nothing was changed. Try again in a moment.");
  }
  function post(wish) {
    try {
      port?.postMessage(wish);
      return port !== void 0;
    } catch {
      return false;
    }
  }
  function notice(reason) {
    const place2 = find("notice", HTMLElement);
    place2.hidden = reason === "";
    place2.textContent = reason;
  }
  function redraw() {
    drawing = drawing.then(draw).catch((error) => console.error(error));
  }
  async function draw() {
    if (!state) return;
    const { connected, why, overview } = state;
    if (!overview) sites.forget();
    const tabs = await knownTabs(overview?.agents.flatMap((agent) => agent.tabs.map(({ tabId }) => tabId)) ?? []);
    const inFront = await front.tab();
    const knowsPrivate = await chrome.extension.isAllowedIncognitoAccess();
    drawLink(connected, why, overview);
    const agents = overview?.agents ?? [];
    questions.draw(overview?.questions ?? [], new Map(agents.map(({ session, colour }) => [session, colour])));
    drawFront(overview, inFront);
    sites.drawRules(overview?.rules, knowsPrivate);
    find("agents", HTMLElement).hidden = agents.length === 0;
    fill(
      find("agent-list", HTMLElement),
      agents.map((agent) => ({ key: agent.session, agent })),
      agentRow,
      (row, { agent }) => row.show(agent, { tabs, front: inFront?.id, paused: overview?.paused === true, want })
    );
    const more = find("agents-more", HTMLElement);
    more.hidden = !overview?.moreAgents;
    more.textContent = `And ${overview?.moreAgents ?? 0} more.`;
    drawEmpty(connected, overview);
  }
  function drawLink(connected, why, overview) {
    const link = find("link", HTMLElement);
    link.className = !connected ? "away" : overview?.paused ? "paused" : "connected";
    words("link-words", !connected ? "Not connected" : overview?.paused ? "Connected, paused" : "Connected");
    words("paused", overview?.paused ? "All agents are paused. Their calls are refused until you resume." : "");
    link.title = connected ? "" : why;
    const pause = find("pause", HTMLButtonElement);
    pause.hidden = !connected || !overview || overview.agents.length === 0 && !overview.paused;
    if (!pause.hidden) pause.textContent = overview?.paused ? "Resume all" : "Pause all";
  }
  function drawFront(overview, tab) {
    const section = find("front", HTMLElement);
    section.hidden = !overview || !tab || overview.agents.length === 0 && tab.origin === void 0;
    if (overview && tab) frontCard(section, overview, tab, want);
    sites.drawSite(overview?.rules, tab);
  }
  function drawEmpty(connected, overview) {
    find("empty", HTMLElement).hidden = connected && (!overview || overview.agents.length > 0);
    words("empty-title", connected ? "No agent is connected." : "tabmux is not connected.");
    const hint = "An agent appears here as soon as it starts tabmux. Run “tabmux install” in a terminal to add tabmux to your agents.";
    words("empty-words", connected ? hint : state?.why ?? "");
  }
  var RETRY = 200;
})();
