"use strict";
(() => {
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
  function plain(text) {
    return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim().slice(0, 200);
  }

  // src/panels.ts
  var PANEL = "panel";

  // src/panel-view.ts
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
  function agentRow() {
    const element = make("li", "agent card");
    const head = make("div", "head");
    const [dot, name, doing] = [make("span", "dot"), make("span", "title"), make("p", "doing")];
    const [tabs, none] = [make("ul", "tabs"), make("p", "none")];
    dot.ariaHidden = "true";
    name.dir = "auto";
    head.append(dot, name);
    element.append(head, doing, tabs, none);
    return {
      element,
      show(agent, around) {
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
        none.hidden = shown2.length > 0 && agent.moreTabs === 0;
        put(none, agent.moreTabs > 0 ? `And ${agent.moreTabs} more tabs.` : agent.here ? "It has no tab here yet." : "It works in another browser.");
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
  function frontCard(section, { agents, paused }, tab, want2) {
    const [title, place2, acts] = [find("front-page", HTMLElement), find("front-place", HTMLElement), find("front-acts", HTMLElement)];
    const card = section.querySelector(".card");
    title.dir = "auto";
    put(title, tab.title);
    title.title = tab.title;
    put(place2, tab.place);
    const holders = agents.filter(({ tabs }) => tabs.some(({ tabId }) => tabId === tab.id));
    const [holder] = holders;
    if (card) card.className = holder ? `card watched ${holder.colour}` : "card";
    words("front-state", frontWords(holders, tab, paused));
    const takers = agents.filter((agent) => agent.here && agent !== holder);
    const gifts = tab.open ? takers : [];
    fill(
      acts,
      [
        ...holder ? [{ key: "back", text: "Take it back", act: () => want2({ type: "takeBack", tabId: tab.id }) }] : [],
        ...gifts.map((agent) => ({
          key: agent.session,
          text: `Give it to ${agent.name}`,
          act: () => want2({ type: "give", tabId: tab.id, session: agent.session })
        }))
      ],
      actButton,
      (row, { text, act }) => row.show(text, act)
    );
  }
  function frontWords(holders, tab, paused) {
    const active = holders.find(({ doing }) => doing.some(({ tabId }) => tabId === tab.id));
    if (active) return `${active.name} is acting in this tab right now.`;
    if (holders.length > 0) return `${holders.map(({ name }) => name).join(" and ")} ${holders.length > 1 ? "work" : "works"} in this tab${paused ? ", and is paused" : ""}.`;
    return tab.open ? "No agent works in this tab." : "No agent can work in this tab: Chrome keeps extensions out of it.";
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
  function make(tag, className) {
    const element = document.createElement(tag);
    element.className = className;
    return element;
  }
  function put(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  // src/panel.ts
  var state;
  var port;
  var drawing = Promise.resolve();
  var front = new FrontTab(redraw);
  find("pause", HTMLButtonElement).addEventListener("click", () => want({ type: state?.overview?.paused ? "resume" : "pause" }));
  connect();
  setInterval(() => state?.overview?.agents.some(({ doing }) => doing.length > 0) && redraw(), 1e3);
  function connect() {
    port = chrome.runtime.connect({ name: PANEL });
    port.onMessage.addListener((message) => {
      if (message.type === "denied") return notice(message.reason);
      state = message;
      redraw();
    });
    port.onDisconnect.addListener(() => {
      state = { type: "state", connected: false, why: "Looking for tabmux on this machine.", overview: void 0 };
      redraw();
      setTimeout(connect, RETRY);
    });
  }
  function want(wish) {
    notice("");
    port?.postMessage(wish);
  }
  function notice(reason) {
    const place2 = find("notice", HTMLElement);
    place2.hidden = reason === "";
    place2.textContent = reason;
  }
  function redraw() {
    drawing = drawing.then(draw);
  }
  async function draw() {
    if (!state) return;
    const { connected, why, overview } = state;
    const tabs = await knownTabs(overview?.agents.flatMap((agent) => agent.tabs.map(({ tabId }) => tabId)) ?? []);
    const inFront = await front.tab();
    drawLink(connected, why, overview);
    drawFront(overview, inFront);
    const agents = overview?.agents ?? [];
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
    words("paused", overview?.paused ? "All agents are paused. What they try is refused until you resume." : "");
    link.title = connected ? "" : why;
    const pause = find("pause", HTMLButtonElement);
    pause.hidden = !connected || !overview || overview.agents.length === 0 && !overview.paused;
    if (!pause.hidden) pause.textContent = overview?.paused ? "Resume all" : "Pause all";
  }
  function drawFront(overview, tab) {
    const section = find("front", HTMLElement);
    section.hidden = !overview || overview.agents.length === 0 || !tab;
    if (overview && tab) frontCard(section, overview, tab, want);
  }
  function drawEmpty(connected, overview) {
    find("empty", HTMLElement).hidden = connected && (!overview || overview.agents.length > 0);
    words("empty-title", connected ? "No agent is connected." : "tabmux is not connected.");
    const hint = "An agent appears here as soon as it starts tabmux. “tabmux install” in a terminal tells your agents about it.";
    words("empty-words", connected ? hint : state?.why ?? "");
  }
  var RETRY = 200;
})();
