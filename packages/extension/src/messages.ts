/** What the extension and the daemon say to each other. Written by `cargo xtask codegen`. */

export const PROTOCOL = 1;

export type FromExtension = { "type": "ping" } | { "type": "pong" } | { "type": "hello", 
/**
 * The protocol it speaks.
 */
version: number, 
/**
 * Its half of what is proved: 32 to 128 hex digits that it never said before.
 */
nonce: string, 
/**
 * The name of this installation: another in each profile of each browser.
 */
instance: string, 
/**
 * What people call that profile.
 */
name?: string, } | { "type": "proof", 
/**
 * 64 hex digits.
 */
proof: string, } | { "type": "connected", 
/**
 * The browser.
 */
browser: BrowserInfo, 
/**
 * Its tabs.
 */
tabs: Array<TabInfo>, } | { "type": "disconnected" } | { "type": "tabCreated", 
/**
 * The tab.
 */
tab: TabInfo, } | { "type": "tabUpdated", 
/**
 * The tab.
 */
tab: TabInfo, } | { "type": "tabClosed", 
/**
 * Which one.
 */
tabId: number, } | { "type": "tabFocused", 
/**
 * Which one.
 */
tabId: number, 
/**
 * The tools of its page, as far as the extension knows them.
 */
tools: unknown[], } | { "type": "toolsChanged", 
/**
 * Which tab.
 */
tabId: number, 
/**
 * All its tools.
 */
tools: unknown[], } | { "type": "toolResult", 
/**
 * Which call.
 */
callId: string, 
/**
 * What the tool answered.
 */
result: unknown, 
/**
 * Why it did not.
 */
error?: string, } | { "type": "done", 
/**
 * What it was.
 */
requestId: number, 
/**
 * The tab that was opened.
 */
tabId?: number, 
/**
 * Why it was not done.
 */
error?: string, } | { "type": "cdp", 
/**
 * Which command.
 */
requestId: number, 
/**
 * Chrome's answer.
 */
result?: unknown, 
/**
 * Chrome's refusal.
 */
error?: string, 
/**
 * How large the answer is, if it is too large to be sent.
 */
tooLarge?: number, } | { "type": "cdpEvent", 
/**
 * The tab.
 */
tabId: number, 
/**
 * The frame or worker inside it, if it is not the tab's own.
 */
sessionId?: string, 
/**
 * Which event.
 */
method: string, 
/**
 * What it tells; only its small parts, if it is too large.
 */
params: unknown, 
/**
 * How large it is, if it is too large to be sent.
 */
tooLarge?: number, } | { "type": "detached", 
/**
 * Which one.
 */
tabId: number, 
/**
 * Chrome's word for it.
 */
reason: string, } | { "type": "pageOpened", 
/**
 * Names the connection, as long as the extension's own lasts.
 */
connection: number, 
/**
 * The page's origin, as Chrome tells it.
 */
origin: string, } | { "type": "pageSaid", 
/**
 * Which connection.
 */
connection: number, 
/**
 * The frame.
 */
text: string, } | { "type": "pageEnded", 
/**
 * Which connection.
 */
connection: number, } | { "type": "pause", 
/**
 * Whether they said so on an earlier connection: another one of theirs may have let agents go on since.
 */
again?: boolean, } | { "type": "resume" } | { "type": "takeBack", 
/**
 * Which one.
 */
tabId: number, } | { "type": "give", 
/**
 * Which one.
 */
tabId: number, 
/**
 * The agent's session, as `overview` names it.
 */
session: string, } | { "type": "canAsk" } | { "type": "answer", 
/**
 * Which one, as `overview` names it.
 */
question: string, 
/**
 * Whether the tool may run.
 */
allowed: boolean, } | { "type": "follow", 
/**
 * The agent's session, as `overview` names it.
 */
session: string, 
/**
 * Whether it follows from now on.
 */
follows: boolean, 
/**
 * The tab that the person has in front.
 */
tabId?: number, } | { "type": "rule", 
/**
 * The site: an origin, or a pattern as `overview` has it.
 */
origin: string, 
/**
 * What holds from now on.
 */
rule: SiteRule, } | { "type": "site", 
/**
 * Its origin.
 */
origin: string, } | { "type": "privateWindows", 
/**
 * Whether they may.
 */
allowed: boolean, } | { "type": "leftTabs", 
/**
 * Which ones.
 */
tabIds: Array<number>, };

export type ToExtension = { "type": "ping" } | { "type": "pong" } | { "type": "challenge", 
/**
 * The protocol it speaks.
 */
version: number, 
/**
 * The daemon's half of what is proved.
 */
nonce: string, 
/**
 * 64 hex digits.
 */
proof: string, } | { "type": "welcome" } | { "type": "refused", 
/**
 * Why, and what to do.
 */
reason: string, } | { "type": "connect", 
/**
 * Of no use to an extension, whose browser runs already.
 */
launch?: boolean, 
/**
 * Whether it wants to know of tabs in private windows, too. It does not, unless it says so.
 */
private?: boolean, } | { "type": "openTab", 
/**
 * For the answer.
 */
requestId: number, 
/**
 * Where.
 */
url: string, 
/**
 * Whether the user should see it.
 */
focus: boolean, } | { "type": "focusTab", 
/**
 * For the answer.
 */
requestId: number, 
/**
 * Which one.
 */
tabId: number, } | { "type": "closeTab", 
/**
 * For the answer.
 */
requestId: number, 
/**
 * Which one.
 */
tabId: number, } | { "type": "callTool", 
/**
 * For the answer.
 */
callId: string, 
/**
 * Where.
 */
tabId: number, 
/**
 * Which one.
 */
toolName: string, 
/**
 * With what.
 */
args: unknown, } | { "type": "attach", 
/**
 * For the answer.
 */
requestId: number, 
/**
 * Which one.
 */
tabId: number, } | { "type": "detach", 
/**
 * Which one.
 */
tabId: number, } | { "type": "tabKnown", 
/**
 * Which one.
 */
tabId: number, } | { "type": "cdp", 
/**
 * For the answer.
 */
requestId: number, 
/**
 * The tab.
 */
tabId: number, 
/**
 * The frame or worker inside it, if it is not the tab itself.
 */
sessionId?: string, 
/**
 * Which command.
 */
method: string, 
/**
 * With what.
 */
params: unknown, } | { "type": "pageTold", 
/**
 * Which connection.
 */
connection: number, 
/**
 * The frame. The first is empty: the page may come. Until then it is not to know that anybody is here.
 */
text: string, } | { "type": "pageEnded", 
/**
 * Which connection.
 */
connection: number, } | { "type": "overview", 
/**
 * Whether the person lets no agent do anything.
 */
paused: boolean, 
/**
 * The agents, oldest first.
 */
agents: Array<AgentInfo>, 
/**
 * How many more there are.
 */
moreAgents: number, 
/**
 * What the person is asked, oldest first.
 */
questions: Array<QuestionInfo>, 
/**
 * The person's rules about sites.
 */
rules: RulesInfo, } | { "type": "site" } & SiteInfo | { "type": "denied", 
/**
 * Why, in a sentence for the person.
 */
reason: string, };

export type BrowserInfo = { 
/**
 * `Chrome`, `Chromium`, `Edge`, …
 */
name: string, 
/**
 * Its version.
 */
version: string, 
/**
 * What it tells servers that it is.
 */
userAgent: string, };

export type TabInfo = { 
/**
 * Chrome's number of it.
 */
id: number, 
/**
 * Its title.
 */
title: string, 
/**
 * What it shows.
 */
url: string, 
/**
 * The window it is in.
 */
windowId: number, 
/**
 * Whether it is the one to be seen in its window.
 */
active: boolean, 
/**
 * The tab that opened it.
 */
openerId?: number, 
/**
 * Whether it is in a private window.
 */
private?: boolean, };

export type AgentInfo = { 
/**
 * Its session.
 */
session: string, 
/**
 * What its program calls itself; agents of the same name have numbers.
 */
name: string, 
/**
 * Its colour among all agents.
 */
colour: Colour, 
/**
 * Whether it works in this browser, so that it can be given tabs here.
 */
here: boolean, 
/**
 * Whether it is connected to a browser, this one or another.
 */
connected: boolean, 
/**
 * Whether it works in the tab that the person turns to.
 */
follows: boolean, 
/**
 * Its tabs in this browser.
 */
tabs: Array<AgentTab>, 
/**
 * How many more there are.
 */
moreTabs: number, 
/**
 * What it is doing now, wherever that is.
 */
doing: Array<Doing>, 
/**
 * How much more it is doing.
 */
moreDoing: number, };

export type AgentTab = { 
/**
 * Chrome's number of it.
 */
tabId: number, 
/**
 * Whether it was opened for this agent; otherwise it is the person's.
 */
own: boolean, 
/**
 * Whether the agent works in it when it names none.
 */
bound: boolean, };

export type Doing = { 
/**
 * The tool.
 */
tool: string, 
/**
 * The tab of this browser that it works on, once it does.
 */
tabId?: number, 
/**
 * When it began, in milliseconds since 1970.
 */
since: number, };

export type Colour = "blue" | "green" | "purple" | "orange" | "cyan" | "pink" | "yellow" | "red";

export type QuestionInfo = { 
/**
 * What its answer names.
 */
id: string, 
/**
 * The session of the agent that wants to run the tool.
 */
session: string, 
/**
 * What that agent is called.
 */
name: string, 
/**
 * The tool, as its page calls it.
 */
tool: string, 
/**
 * The site that offers it.
 */
origin: string, 
/**
 * What it would be called with, shortened.
 */
arguments: string, 
/**
 * Why the person is asked.
 */
because: Because, 
/**
 * When it is too late for an answer, in milliseconds since 1970.
 */
until: number, };

export type Because = "hardToUndo" | "always";

export type RulesInfo = { 
/**
 * If there are any, agents may see no others.
 */
allowed: Array<string>, 
/**
 * These they may never see.
 */
blocked: Array<string>, 
/**
 * How many more there are.
 */
more: number, 
/**
 * Whether agents may work in private windows.
 */
privateWindows: boolean, 
/**
 * Why there are none: they cannot be read, and nothing is permitted.
 */
problem?: string, };

export type SiteInfo = { 
/**
 * Its origin, as it was asked for.
 */
origin: string, 
/**
 * Whether agents may see it and act there.
 */
allowed: boolean, 
/**
 * The rule that decides, if one does.
 */
rule?: string, 
/**
 * Whether that rule is about this site alone.
 */
alone: boolean, };

export type SiteRule = "allow" | "block" | "none";
