"use strict";
(() => {
  // src/badge.ts
  var Badge = class {
    #state = "";
    #questions = 0;
    /** The state of the connection: `connected`, or the reason why there is none. */
    link(state) {
      this.#state = state;
      if (state !== "connected") this.#questions = 0;
      this.#show();
    }
    questions(count) {
      if (count === this.#questions) return;
      this.#questions = count;
      this.#show();
    }
    #show() {
      const waiting = this.#questions;
      const words = waiting === 0 ? this.#state : waiting === 1 ? "an agent waits for your answer" : `${waiting} questions wait for your answer`;
      void chrome.action.setTitle({ title: `tabmux Browser Tools: ${words}` });
      void chrome.action.setBadgeText({ text: waiting > 0 ? String(waiting) : this.#state === "connected" ? "" : "off" });
      void chrome.action.setBadgeBackgroundColor({ color: waiting > 0 ? WAITING : AWAY });
      void chrome.action.setBadgeTextColor({ color: "#ffffff" });
    }
  };
  var WAITING = "#b3261e";
  var AWAY = "#5c636e";

  // src/browser.ts
  async function browserInfo() {
    const { userAgent, userAgentData } = navigator;
    const known = (await userAgentData?.getHighEntropyValues(["fullVersionList"]))?.fullVersionList ?? [];
    for (const [brand, name] of NAMES) {
      const found = known.find((entry) => entry.brand === brand);
      if (found) return { name, version: found.version, userAgent };
    }
    return { name: "Chrome", version: /Chrome\/([\d.]+)/.exec(userAgent)?.[1] ?? "", userAgent };
  }
  var NAMES = [
    ["Google Chrome", "Chrome"],
    ["HeadlessChrome", "Chrome"],
    ["Microsoft Edge", "Edge"],
    ["Brave", "Brave"],
    ["Opera", "Opera"],
    ["Vivaldi", "Vivaldi"],
    ["Chromium", "Chromium"]
  ];

  // src/fresh.ts
  var Fresh = class {
    #turn = Promise.resolve();
    /** Tabs of this connection. The daemon will still confirm or close them. */
    #now = /* @__PURE__ */ new Set();
    /** A new connection begins. */
    begin() {
      this.#now.clear();
    }
    opened(tabId) {
      this.#now.add(tabId);
      return this.#change((tabs2) => void (tabs2[tabId] = Date.now()));
    }
    /** The daemon has saved the owner of this tab, or is about to close it. */
    known(tabId) {
      return this.#change((tabs2) => void delete tabs2[tabId]);
    }
    /** Tabs that earlier connections left behind. After a while, a tab counts as the user's own. */
    async left() {
      const left = [];
      await this.#change((tabs2) => {
        for (const [id, since] of Object.entries(tabs2).map(([id2, since2]) => [Number(id2), since2])) {
          if (this.#now.has(id)) continue;
          if (Date.now() - since < YOUNG) left.push(id);
          else delete tabs2[id];
        }
      });
      return left;
    }
    #change(change) {
      this.#turn = this.#turn.then(async () => {
        const { fresh: fresh2 } = await chrome.storage.session.get("fresh");
        const tabs2 = { ...fresh2 };
        const before = JSON.stringify(tabs2);
        change(tabs2);
        if (JSON.stringify(tabs2) !== before) await chrome.storage.session.set({ fresh: tabs2 });
      });
      return this.#turn;
    }
  };
  var YOUNG = 6e4;

  // src/groups.ts
  var Groups = class {
    #turn = Promise.resolve();
    #wanted;
    /** Puts every agent's tabs into its group. Of several calls in a row, only the last one counts. */
    arrange(agents, tries = MOST_TRIES) {
      this.#wanted = agents;
      this.#turn = this.#turn.then(async () => {
        const wanted = this.#wanted;
        this.#wanted = void 0;
        if (!wanted || await arrange(wanted).catch(() => false)) return;
        setTimeout(() => this.#wanted === void 0 && tries > 1 && void this.arrange(wanted, tries - 1), PAUSE);
      });
      return this.#turn;
    }
    /** Takes a tab out of its agent's group: it is the user's now. Chrome removes a group without tabs. */
    async release(tabId) {
      await this.#turn;
      const { placed } = await read();
      if (placed.includes(tabId)) await chrome.tabs.ungroup(tabId).catch(() => void 0);
    }
  };
  async function arrange(agents) {
    let isDone = true;
    const before = await read();
    const present = new Map((await chrome.tabs.query({})).map((tab) => [tab.id ?? -1, tab]));
    const placed = new Set(before.placed.filter((id) => present.has(id)));
    const groups2 = {};
    const living = new Map((await chrome.tabGroups.query({})).map((group) => [group.id, group]));
    for (const [session, group] of Object.entries(before.groups)) if (living.has(group.id)) groups2[session] = group;
    for (const agent of agents) {
      const own = agent.tabs.flatMap(({ tabId, own: own2 }) => own2 ? present.get(tabId) ?? [] : []);
      const fresh2 = own.filter((tab) => !placed.has(tab.id ?? -1));
      const known = groups2[agent.session]?.id ?? own.map((tab) => tab.groupId).find((id2) => living.get(id2)?.title === agent.name);
      const { id, left } = await put(fresh2, known);
      for (const tab of fresh2) if (!left.has(tab.id ?? -1)) placed.add(tab.id ?? -1);
      isDone &&= left.size === 0;
      if (id === void 0) continue;
      const group = groups2[agent.session];
      if (group?.id !== id || group.name !== agent.name || group.colour !== agent.colour) {
        await chrome.tabGroups.update(id, { title: agent.name, color: agent.colour });
        groups2[agent.session] = { id, name: agent.name, colour: agent.colour };
      }
    }
    const after2 = { groups: groups2, placed: [...placed] };
    if (JSON.stringify(after2) !== JSON.stringify(before)) await chrome.storage.session.set({ groups: after2 });
    return isDone;
  }
  async function put(tabs2, known) {
    let group = known;
    const left = /* @__PURE__ */ new Set();
    for (const { id, windowId } of tabs2) {
      if (id === void 0) continue;
      const where = group === void 0 ? { createProperties: { windowId } } : { groupId: group };
      try {
        group = await chrome.tabs.group({ tabIds: [id], ...where });
      } catch (error) {
        if (!NO_PLACE.test(String(error))) left.add(id);
      }
    }
    return { id: group, left };
  }
  async function read() {
    const { groups: groups2 } = await chrome.storage.session.get("groups");
    return groups2 ?? { groups: {}, placed: [] };
  }
  var NO_PLACE = /normal windows/;
  var MOST_TRIES = 10;
  var PAUSE = 500;

  // src/messages.ts
  var PROTOCOL = 1;

  // src/pairing.ts
  async function pairing() {
    const answer = await fetch(chrome.runtime.getURL("pairing.json"), { cache: "no-store" });
    return await answer.json();
  }
  async function instance() {
    const known = (await chrome.storage.local.get("instance"))["instance"];
    if (typeof known === "string") return known;
    const made = freshNonce().slice(0, 32);
    await chrome.storage.local.set({ instance: made });
    return made;
  }
  async function ownName(found) {
    const kept = await keptName();
    if (kept === void 0) await chrome.storage.local.set({ name: found ?? "" });
    return (kept ?? found) || void 0;
  }
  async function takeName(found, why) {
    const isReload = why.reason === "update" && why.previousVersion === chrome.runtime.getManifest().version;
    const kept = await keptName();
    if (!isReload || kept === void 0 || kept === (found ?? "")) return false;
    await chrome.storage.local.set({ name: found ?? "" });
    return true;
  }
  async function keptName() {
    const kept = (await chrome.storage.local.get("name"))["name"];
    return typeof kept === "string" ? kept : void 0;
  }
  function freshNonce() {
    return toHex(crypto.getRandomValues(new Uint8Array(32)));
  }
  async function prove(secret, role, nonces, host) {
    const bytes = Uint8Array.from(secret.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const text = [`tabmux ${PROTOCOL}`, role, nonces.extension, nonces.daemon, chrome.runtime.id, host].join("\n");
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))));
  }
  function toHex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // src/link.ts
  var Link = class {
    constructor(owner) {
      this.owner = owner;
    }
    owner;
    #talk;
    #pause = FIRST_PAUSE;
    #pulse;
    #heardAt = 0;
    /** When the last connection was lost. */
    #wantedAt = Date.now();
    /** Connects, unless there is a connection already. */
    keep() {
      if (this.#talk) return;
      void this.#dial().catch((error) => {
        if (!this.#talk) this.#end(void 0, String(error));
      });
    }
    /** Reconnects, because something in the hello message has changed. */
    greetAgain() {
      this.#talk?.socket.close();
      this.keep();
    }
    get isWelcome() {
      return this.#talk?.stage === "welcome";
    }
    /** Whether many bytes are still unsent. Callers that can retry later should. */
    get isBehind() {
      return (this.#talk?.socket.bufferedAmount ?? 0) > MUCH_BUFFERED;
    }
    /** Sends a message. Returns false if there is no authenticated connection. */
    tell(message) {
      if (this.#talk?.stage !== "welcome") return false;
      const { socket } = this.#talk;
      if (socket.bufferedAmount > MOST_BUFFERED) {
        socket.close();
        return false;
      }
      socket.send(JSON.stringify(message));
      return true;
    }
    async #dial() {
      const known = await this.owner.pairing();
      if (this.#talk) return;
      const host = `127.0.0.1:${known.port}`;
      const socket = new WebSocket(`ws://${host}/`);
      const talk = { socket, stage: "new" };
      this.#talk = talk;
      const nonce = freshNonce();
      let why = "The daemon is not running. It starts with the first agent.";
      let turn = Promise.resolve();
      socket.onopen = async () => {
        const extensionVersion = chrome.runtime.getManifest().version;
        const hello = {
          type: "hello",
          version: PROTOCOL,
          nonce,
          instance: await instance(),
          name: await ownName(known.name),
          extensionVersion
        };
        socket.send(JSON.stringify(hello));
      };
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data));
        this.#heardAt = Date.now();
        if (talk.stage === "welcome" && message.type !== "ping") {
          void this.owner.hear(message);
          return;
        }
        turn = turn.then(async () => {
          why = await this.#greet(talk, message, { known, nonce, host }) ?? why;
        });
      };
      socket.onerror = () => void 0;
      socket.onclose = () => this.#end(talk, why);
    }
    /** One step of the handshake. Returns the text to show when the connection ends, if this step changes it. */
    async #greet(talk, message, about) {
      const { known, nonce, host } = about;
      const { socket } = talk;
      if (message.type === "ping") {
        if (talk.stage === "welcome") this.tell({ type: "pong" });
      } else if (message.type === "challenge") {
        const nonces = { extension: nonce, daemon: message.nonce };
        if (message.proof !== await prove(known.secret, "daemon", nonces, host)) {
          socket.close();
          return `Another program listens at port ${known.port}, or the secret was changed. Run "tabmux extension install".`;
        }
        socket.send(JSON.stringify({ type: "proof", proof: await prove(known.secret, "extension", nonces, host) }));
        if (talk.stage === "new") talk.stage = "proved";
      } else if (message.type === "welcome" && talk.stage === "proved") {
        await this.owner.welcome();
        if (talk.stage !== "proved") return void 0;
        talk.stage = "welcome";
        this.#pause = FIRST_PAUSE;
        this.#pulse = setInterval(() => this.#beat(talk), PULSE);
        this.owner.show("connected");
        return "The daemon has stopped.";
      } else if (message.type === "refused") {
        return String(message.reason).slice(0, LONGEST_REASON);
      } else if (talk.stage === "welcome") {
        await this.owner.hear(message);
      }
      return void 0;
    }
    /** Pings the daemon, and ends the connection if it has been silent for too long. */
    #beat(talk) {
      if (Date.now() - this.#heardAt < SILENCE_LIMIT) return void this.tell({ type: "ping" });
      talk.socket.close();
      this.#end(talk, "The daemon stopped responding.");
    }
    #end(talk, why) {
      if (talk !== this.#talk) return;
      clearInterval(this.#pulse);
      const wasWelcome = talk?.stage === "welcome";
      if (talk) talk.stage = "over";
      this.#talk = void 0;
      this.owner.show(why);
      if (wasWelcome) {
        this.#wantedAt = Date.now();
        void this.owner.lost();
      }
      if (this.#pause === LONGEST_PAUSE) this.owner.alone();
      setTimeout(() => this.keep(), this.#pause);
      const longest = Date.now() - this.#wantedAt < SOON ? LONGEST_PAUSE_AT_FIRST : LONGEST_PAUSE;
      this.#pause = Math.min(this.#pause * 2, longest);
    }
  };
  var PULSE = 2e4;
  var SILENCE_LIMIT = 6e4;
  var FIRST_PAUSE = 250;
  var SOON = 3e4;
  var LONGEST_PAUSE_AT_FIRST = 1e3;
  var LONGEST_PAUSE = 1e4;
  var LONGEST_REASON = 300;
  var MUCH_BUFFERED = 64 * 1024 * 1024;
  var MOST_BUFFERED = 128 * 1024 * 1024;

  // src/panels.ts
  var WISHES = ["pause", "resume", "takeBack", "give", "follow", "answer", "rule", "site", "privateWindows"];
  var PANEL = "panel";
  var Panels = class {
    constructor(want2) {
      this.want = want2;
    }
    want;
    #ports = /* @__PURE__ */ new Set();
    #connected = false;
    #why = "Looking for tabmux on this machine.";
    #overview;
    listen() {
      chrome.runtime.onConnect.addListener((port) => {
        if (port.name !== PANEL || port.sender?.id !== chrome.runtime.id || port.sender.origin !== location.origin) return;
        this.#ports.add(port);
        port.onDisconnect.addListener(() => this.#ports.delete(port));
        port.onMessage.addListener((wish) => this.want(wish));
        port.postMessage(this.#state());
      });
    }
    /** Whether the daemon is connected, and if not, why. */
    link(connected, why) {
      [this.#connected, this.#why] = [connected, why];
      if (!connected) this.#overview = void 0;
      this.#tell(this.#state());
    }
    show(overview) {
      this.#overview = overview;
      this.#tell(this.#state());
    }
    site(site) {
      this.#tell({ type: "site", site });
    }
    deny(reason) {
      this.#tell({ type: "denied", reason });
    }
    #state() {
      return { type: "state", connected: this.#connected, why: this.#why, overview: this.#overview };
    }
    #tell(message) {
      for (const port of this.#ports) port.postMessage(message);
    }
  };

  // src/pause.ts
  var Pause = class {
    #owed = false;
    /** A connection begins, before its first message. The daemon may be a new one. */
    async begin() {
      const { paused } = await chrome.storage.session.get("paused");
      this.#owed = paused === true;
    }
    /** The user asks for a pause. It is stored first, because the message may never reach the daemon. */
    async wanted() {
      this.#owed = true;
      await chrome.storage.session.set({ paused: true });
    }
    /** Whether the pause still has to be sent to the daemon. */
    get isOwed() {
      return this.#owed;
    }
    /** The daemon reports its state. Before it has received the pause, its state does not count. */
    async told(paused) {
      if (paused) this.#owed = false;
      else if (!this.#owed) await chrome.storage.session.set({ paused: false });
    }
    /** The user ends the pause. */
    async over() {
      this.#owed = false;
      await chrome.storage.session.set({ paused: false });
    }
  };

  // src/relay-terms.ts
  var RELAY = "relay";
  var LONGEST = 10 * 1024 * 1024;

  // src/relays.ts
  var Relays = class {
    constructor(daemon) {
      this.daemon = daemon;
    }
    daemon;
    #relays = /* @__PURE__ */ new Map();
    #count = 0;
    listen() {
      chrome.runtime.onConnect.addListener((port) => {
        const { name, sender } = port;
        if (name !== RELAY || sender?.id !== chrome.runtime.id || sender.frameId !== 0) return;
        if (sender.tab?.incognito && !this.daemon.hearsOfPrivate()) return port.disconnect();
        this.#open(port, sender.origin ?? "");
      });
    }
    hear(message) {
      const relay = this.#relays.get(message.connection);
      if (message.type === "pageTold") {
        if (relay) relay.isAdmitted = true;
        relay?.port.postMessage(message.text);
        return;
      }
      this.#relays.delete(message.connection);
      relay?.port.disconnect();
    }
    /** The connection to the daemon is lost. */
    lost() {
      for (const { port } of this.#relays.values()) port.disconnect();
      this.#relays.clear();
    }
    /** Closes the relays of private windows, if the daemon no longer wants them. */
    endPrivate() {
      if (this.daemon.hearsOfPrivate()) return;
      for (const [connection, { port }] of this.#relays) if (port.sender?.tab?.incognito) this.#end(connection);
    }
    #open(port, origin) {
      const connection = ++this.#count;
      if (this.daemon.isBehind() || !this.daemon.tell({ type: "pageOpened", connection, origin })) {
        port.disconnect();
        return;
      }
      this.#relays.set(connection, { port, isAdmitted: false });
      port.onMessage.addListener((text) => {
        if (typeof text !== "string" || !this.#relays.get(connection)?.isAdmitted) return;
        if (text.length > LONGEST || this.daemon.isBehind()) this.#end(connection);
        else this.daemon.tell({ type: "pageSaid", connection, text });
      });
      port.onDisconnect.addListener(() => {
        if (this.#relays.delete(connection)) this.daemon.tell({ type: "pageEnded", connection });
      });
    }
    #end(connection) {
      const relay = this.#relays.get(connection);
      if (!this.#relays.delete(connection)) return;
      this.daemon.tell({ type: "pageEnded", connection });
      relay?.port.disconnect();
    }
  };

  // src/tabs.ts
  var Tabs = class {
    constructor(tell) {
      this.tell = tell;
    }
    tell;
    /** Whether the daemon wants to know about changes. */
    isHeard = false;
    /** Whether it also wants to know about private windows. */
    hearsOfPrivate = false;
    listen() {
      chrome.tabs.onCreated.addListener((tab) => this.#report("tabCreated", tab));
      chrome.tabs.onUpdated.addListener((_, change, tab) => {
        if (change.url !== void 0 || change.title !== void 0 || change.status !== void 0) this.#report("tabUpdated", tab);
      });
      chrome.tabs.onRemoved.addListener((tabId) => this.#closed(tabId));
      chrome.tabs.onReplaced.addListener((added, removed) => {
        this.#closed(removed);
        void chrome.tabs.get(added).then((tab) => this.#report("tabCreated", tab));
      });
      chrome.tabs.onActivated.addListener(({ tabId }) => {
        if (this.isHeard) this.tell({ type: "tabFocused", tabId, tools: [] });
      });
      chrome.windows.onFocusChanged.addListener((windowId) => {
        if (windowId !== NO_WINDOW) void this.#windowFocused(windowId);
      });
    }
    async all() {
      return (await chrome.tabs.query({})).flatMap((tab) => this.#info(tab) ?? []);
    }
    /** Opens a tab: in the background unless `focus` is set, and never in a private window. */
    async open(url, focus) {
      const windowId = await usableWindow();
      if (windowId === void 0) return openInNewWindow(url, focus);
      const tab = await chrome.tabs.create({ url, active: focus, windowId }).catch(() => void 0);
      return tab?.id ?? openInNewWindow(url, focus);
    }
    async focus(tabId) {
      const tab = await chrome.tabs.update(tabId, { active: true });
      if (tab) await chrome.windows.update(tab.windowId, { focused: true });
    }
    async close(tabId) {
      await chrome.tabs.remove(tabId);
    }
    async #windowFocused(windowId) {
      const [tab] = await chrome.tabs.query({ active: true, windowId });
      const known = tab && this.#info(tab);
      if (this.isHeard && known && /^https?:/.test(known.url)) this.tell({ type: "tabFocused", tabId: known.id, tools: [] });
    }
    #report(type, tab) {
      const known = this.#info(tab);
      if (this.isHeard && known) this.tell({ type, tab: known });
    }
    #closed(tabId) {
      if (this.isHeard) this.tell({ type: "tabClosed", tabId });
    }
    #info(tab) {
      if (!tab.incognito) return info(tab);
      const known = this.hearsOfPrivate ? info(tab) : void 0;
      return known && { ...known, private: true };
    }
  };
  async function usableWindow() {
    const wanted = { windowTypes: ["normal"], populate: true };
    const [last, all] = await Promise.all([chrome.windows.getLastFocused(wanted).catch(() => void 0), chrome.windows.getAll(wanted)]);
    const usable = all.filter(({ incognito, tabs: tabs2 }) => !incognito && tabs2?.length !== 0);
    return (usable.find(({ id }) => id === last?.id) ?? usable[0])?.id;
  }
  async function openInNewWindow(url, focused) {
    const made = await chrome.windows.create({ url, focused, incognito: false });
    const tab = made?.tabs?.[0];
    if (tab?.id === void 0) throw new Error("Chrome opened no window.");
    return tab.id;
  }
  function info(tab) {
    if (tab.id === void 0) return void 0;
    const known = { id: tab.id, title: tab.title ?? "", url: tab.url || tab.pendingUrl || "", windowId: tab.windowId, active: tab.active };
    const isPersons = tab.openerTabId === void 0 || /^(chrome|edge|brave|about:newtab)/.test(known.url);
    return isPersons ? known : { ...known, openerId: tab.openerTabId };
  }
  var NO_WINDOW = -1;

  // src/size.ts
  function excess(value, most) {
    const texts = lengthOfTexts(value, most);
    if (texts > most) return texts;
    const text = JSON.stringify(value) ?? "";
    if (text.length * 3 <= most) return void 0;
    const bytes = new TextEncoder().encode(text).length;
    return bytes > most ? bytes : void 0;
  }
  function smallParts(value, depth = 2) {
    const entries = Object.entries(value ?? {}).slice(0, MOST_PARTS);
    const kept = entries.flatMap(([name, part]) => {
      if (typeof part === "string") return part.length <= LONGEST_PART ? [[name, part]] : [];
      if (typeof part !== "object") return [[name, part]];
      return depth > 1 && part !== null && !Array.isArray(part) ? [[name, smallParts(part, depth - 1)]] : [];
    });
    return Object.fromEntries(kept);
  }
  function lengthOfTexts(value, most) {
    let length = 0;
    const waiting = [value];
    while (waiting.length > 0 && length <= most) {
      const next = waiting.pop();
      if (typeof next === "string") length += next.length;
      else if (typeof next === "object" && next !== null) for (const part of Object.values(next)) waiting.push(part);
    }
    return length;
  }
  var MOST_PARTS = 30;
  var LONGEST_PART = 2e3;

  // src/tunnel.ts
  var Tunnel = class {
    constructor(tell, cancelled) {
      this.tell = tell;
      this.cancelled = cancelled;
    }
    tell;
    cancelled;
    /** Callbacks that wait until the debugger has paused a script, by target. */
    #stopping = /* @__PURE__ */ new Map();
    /** Operations that must not overlap: attaching and detaching a tab, ending scripts in one target. */
    #turns = /* @__PURE__ */ new Map();
    listen() {
      chrome.debugger.onEvent.addListener((source, method, params) => {
        const { tabId, sessionId } = source;
        if (tabId === void 0 || this.#isOwn(method, sessionId === void 0 ? { tabId } : { tabId, sessionId })) return;
        const child = params?.sessionId;
        if (method === "Target.attachedToTarget" && typeof child === "string") debug({ tabId, sessionId: child });
        const bytes = excess(params, MOST_EVENT);
        const told = bytes === void 0 ? { params: params ?? {} } : { params: smallParts(params), tooLarge: bytes };
        const event = { type: "cdpEvent", tabId, method, ...told };
        this.tell(sessionId === void 0 ? event : { ...event, sessionId });
      });
      chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
        if (tabId === void 0) return;
        this.tell({ type: "detached", tabId, reason });
        if (reason === "canceled_by_user") this.cancelled(tabId);
      });
    }
    async attach(tabId) {
      await this.#inTurn(`${tabId}`, async () => {
        await chrome.debugger.attach({ tabId }, "1.3");
        debug({ tabId });
      });
    }
    async detach(tabId) {
      await this.#inTurn(`${tabId}`, () => chrome.debugger.detach({ tabId }).catch(() => void 0));
    }
    async #inTurn(what, act) {
      const done2 = (this.#turns.get(what) ?? Promise.resolve()).then(act);
      const turn = done2.catch(() => void 0);
      this.#turns.set(what, turn);
      try {
        return await done2;
      } finally {
        if (this.#turns.get(what) === turn) this.#turns.delete(what);
      }
    }
    /** Detaches all tabs that this extension is attached to. Chrome refuses to detach those of other extensions. */
    async detachAll() {
      const targets = await chrome.debugger.getTargets();
      const held = targets.flatMap((target) => target.attached && target.tabId !== void 0 ? [target.tabId] : []);
      await Promise.all(held.map((tabId) => this.detach(tabId)));
    }
    async send({ requestId, tabId, sessionId, method, params }) {
      const target = sessionId === void 0 ? { tabId } : { tabId, sessionId };
      try {
        const terminates = method === "Runtime.terminateExecution";
        const result = terminates ? await this.#inTurn(place(target), () => this.#terminate(target)) : await chrome.debugger.sendCommand(target, method, params);
        const bytes = excess(result, MOST_ANSWER);
        this.tell(bytes === void 0 ? { type: "cdp", requestId, result: result ?? {} } : { type: "cdp", requestId, tooLarge: bytes });
      } catch (error) {
        const why = messageOf(error);
        if (why !== NO_WORKER) this.tell({ type: "cdp", requestId, error: why });
      }
    }
    /** Ends the running script. Chrome does not allow extensions to do that directly, but they can pause it and end it on resume. */
    async #terminate(target) {
      const over = chrome.debugger.sendCommand(target, "Runtime.evaluate", { expression: "0" }).then(
        () => "over",
        () => "over"
      );
      if (await Promise.race([over, after(IDLE_LIMIT)]) === "over") return {};
      const stopped = new Promise((resolve) => this.#stopping.set(place(target), () => resolve("stopped")));
      const first = Promise.race([stopped, over, after(STOP_LIMIT)]);
      try {
        await chrome.debugger.sendCommand(target, "Debugger.pause");
        await first;
      } finally {
        this.#stopping.delete(place(target));
      }
      if (await first === "stopped") return await chrome.debugger.sendCommand(target, "Debugger.resume", { terminateOnResume: true }) ?? {};
      await chrome.debugger.sendCommand(target, "Debugger.disable");
      debug(target);
      return {};
    }
    /** Whether an event belongs to the debugger domain, which only this class uses. */
    #isOwn(method, target) {
      if (method === "Debugger.paused") {
        const stop = this.#stopping.get(place(target));
        if (stop) stop();
        else void chrome.debugger.sendCommand(target, "Debugger.resume").catch(() => void 0);
      }
      return method.startsWith("Debugger.");
    }
  };
  function after(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }
  function place({ tabId, sessionId }) {
    return `${tabId} ${sessionId ?? ""}`;
  }
  function debug(target) {
    for (const [method, params] of [["Debugger.enable", {}], ["Debugger.setBreakpointsActive", { active: false }]])
      void chrome.debugger.sendCommand(target, method, params).catch(() => void 0);
  }
  var MOST_ANSWER = 32 * 1024 * 1024;
  var MOST_EVENT = 10 * 1024 * 1024;
  var IDLE_LIMIT = 150;
  var STOP_LIMIT = 850;
  var NO_WORKER = "No SW";
  function messageOf(error) {
    const text = error instanceof Error ? error.message : String(error);
    try {
      const { message } = JSON.parse(text);
      return typeof message === "string" ? message : text;
    } catch {
      return text;
    }
  }

  // src/worker.ts
  var link = new Link({ pairing, show, welcome, hear, lost, alone: () => wake(SELDOM) });
  var tabs = new Tabs((message) => link.tell(message));
  var fresh = new Fresh();
  var pause = new Pause();
  var groups = new Groups();
  var tunnel = new Tunnel(
    (message) => link.tell(message),
    (tabId) => void groups.release(tabId)
  );
  var panels = new Panels(want);
  var relays = new Relays({
    tell: (message) => link.tell(message),
    isBehind: () => link.isBehind,
    hearsOfPrivate: () => tabs.hearsOfPrivate
  });
  var badge = new Badge();
  tabs.listen();
  tunnel.listen();
  panels.listen();
  relays.listen();
  chrome.alarms.onAlarm.addListener(() => link.keep());
  chrome.runtime.onStartup.addListener(() => link.keep());
  chrome.runtime.onInstalled.addListener((why) => void loaded(why));
  void chrome.alarms.get("keep").then((alarm) => alarm ?? wake(SELDOM));
  void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
  void tunnel.detachAll().then(() => link.keep());
  async function loaded(why) {
    link.keep();
    const known = await pairing();
    if (await takeName(known.name, why)) link.greetAgain();
  }
  function show(state) {
    badge.link(state);
    panels.link(state === "connected", state);
  }
  function want(wish) {
    if (!WISHES.includes(wish.type)) return;
    if (!link.isWelcome) {
      if (wish.type !== "site") panels.deny("tabmux is not connected, so nothing was changed.");
      return;
    }
    if (wish.type === "pause") void pause.wanted();
    link.tell(wish);
    if (wish.type === "resume") void pause.over();
    if (wish.type === "takeBack") void groups.release(wish.tabId);
  }
  async function welcome() {
    wake(OFTEN);
    fresh.begin();
    await pause.begin();
    await tunnel.detachAll();
  }
  async function lost() {
    tabs.isHeard = tabs.hearsOfPrivate = false;
    relays.lost();
    await tunnel.detachAll();
  }
  async function hear(message) {
    switch (message.type) {
      case "connect": {
        if (pause.isOwed) link.tell({ type: "pause", again: true });
        tabs.isHeard = true;
        tabs.hearsOfPrivate = message.private === true;
        relays.endPrivate();
        link.tell({ type: "connected", browser: await browserInfo(), tabs: await tabs.all() });
        link.tell({ type: "canAsk" });
        const left = await fresh.left();
        if (left.length > 0) link.tell({ type: "leftTabs", tabIds: left });
        return;
      }
      case "overview": {
        const overview = { ...SILENT, ...message };
        panels.show(overview);
        badge.questions(overview.questions.length);
        void pause.told(message.paused);
        return groups.arrange(message.agents);
      }
      case "site":
        return panels.site(message);
      case "denied":
        return panels.deny(message.reason);
      case "openTab":
        return done(message.requestId, async () => {
          const tabId = await tabs.open(message.url, message.focus);
          await fresh.opened(tabId);
          return tabId;
        });
      case "focusTab":
        return done(message.requestId, () => tabs.focus(message.tabId));
      case "closeTab":
        return done(message.requestId, async () => {
          await groups.release(message.tabId);
          await fresh.known(message.tabId);
          await tabs.close(message.tabId);
        });
      case "tabKnown":
        return fresh.known(message.tabId);
      case "attach":
        return done(message.requestId, () => tunnel.attach(message.tabId));
      case "detach":
        return tunnel.detach(message.tabId);
      case "cdp":
        return tunnel.send(message);
      case "pageTold":
      case "pageEnded":
        return relays.hear(message);
      case "callTool":
        return void link.tell({ type: "toolResult", callId: message.callId, result: null, error: "This extension does not look for tools; use cdp." });
      default:
        return;
    }
  }
  async function done(requestId, act) {
    try {
      const opened = await act();
      link.tell(typeof opened === "number" ? { type: "done", requestId, tabId: opened } : { type: "done", requestId });
    } catch (error) {
      link.tell({ type: "done", requestId, error: error instanceof Error ? error.message : String(error) });
    }
  }
  function wake(periodInMinutes) {
    void chrome.alarms.create("keep", { periodInMinutes });
  }
  var OFTEN = 0.05;
  var SELDOM = 0.5;
  var SILENT = { questions: [], rules: { allowed: [], blocked: [], more: 0, privateWindows: false } };
})();
