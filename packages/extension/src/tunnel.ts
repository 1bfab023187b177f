/** Chrome's debugging protocol for the tabs that the daemon works in, and for no others. */

import type { FromExtension, ToExtension } from './messages.js';
import { excess, smallParts } from './size.js';

type Target = chrome.debugger.DebuggerSession & { tabId: number };

export class Tunnel {
  /** Who waits for the debugger to stop a script, by the place where it runs. */
  readonly #stopping = new Map<string, () => void>();
  /** What takes time and must not be mixed: to attach and to detach a tab, to end scripts in one place. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly tell: (message: FromExtension) => void,
    /** The person pressed "Cancel" in Chrome's bar. */
    private readonly cancelled: (tabId: number) => void,
  ) {}

  listen(): void {
    chrome.debugger.onEvent.addListener((source, method, params) => {
      const { tabId, sessionId } = source as chrome.debugger.DebuggerSession;
      if (tabId === undefined || this.#isOwn(method, sessionId === undefined ? { tabId } : { tabId, sessionId })) return;
      const child = (params as { sessionId?: unknown } | undefined)?.sessionId;
      if (method === 'Target.attachedToTarget' && typeof child === 'string') debug({ tabId, sessionId: child });
      const bytes = excess(params, MOST_EVENT);
      const told = bytes === undefined ? { params: params ?? {} } : { params: smallParts(params), tooLarge: bytes };
      const event = { type: 'cdpEvent', tabId, method, ...told } as const;
      this.tell(sessionId === undefined ? event : { ...event, sessionId });
    });
    chrome.debugger.onDetach.addListener(({ tabId }, reason) => {
      if (tabId === undefined) return;
      this.tell({ type: 'detached', tabId, reason });
      if (reason === 'canceled_by_user') this.cancelled(tabId);
    });
  }

  async attach(tabId: number): Promise<void> {
    await this.#inTurn(`${tabId}`, async () => {
      await chrome.debugger.attach({ tabId }, '1.3');
      debug({ tabId });
    });
  }

  async detach(tabId: number): Promise<void> {
    // A tab that is gone needs no letting go.
    await this.#inTurn(`${tabId}`, () => chrome.debugger.detach({ tabId }).catch(() => undefined));
  }

  async #inTurn<T>(what: string, act: () => Promise<T>): Promise<T> {
    const done = (this.#turns.get(what) ?? Promise.resolve()).then(act);
    const turn = done.catch(() => undefined);
    this.#turns.set(what, turn);
    try {
      return await done;
    } finally {
      if (this.#turns.get(what) === turn) this.#turns.delete(what);
    }
  }

  /** Lets go of all tabs that this extension holds; Chrome refuses what others hold. */
  async letGo(): Promise<void> {
    const targets = await chrome.debugger.getTargets();
    const held = targets.flatMap((target) => (target.attached && target.tabId !== undefined ? [target.tabId] : []));
    await Promise.all(held.map((tabId) => this.detach(tabId)));
  }

  async send({ requestId, tabId, sessionId, method, params }: Extract<ToExtension, { type: 'cdp' }>): Promise<void> {
    const target = sessionId === undefined ? { tabId } : { tabId, sessionId };
    try {
      const terminates = method === 'Runtime.terminateExecution';
      const result = terminates
        ? await this.#inTurn(place(target), () => this.#terminate(target))
        : await chrome.debugger.sendCommand(target, method, params as Record<string, unknown>);
      const bytes = excess(result, MOST_ANSWER);
      this.tell(bytes === undefined ? { type: 'cdp', requestId, result: result ?? {} } : { type: 'cdp', requestId, tooLarge: bytes });
    } catch (error) {
      const why = words(error);
      // This worker is being ended, and the connection with it, of which the daemon has more to say.
      if (why !== NO_WORKER) this.tell({ type: 'cdp', requestId, error: why });
    }
  }

  /** Ends the script that runs. Chrome does not let an extension do that, but stop it, and end it as it goes on. */
  async #terminate(target: Target): Promise<object> {
    // It comes to its turn when that script is over, before any other that is asked for later, which is not to be stopped.
    const over = chrome.debugger.sendCommand(target, 'Runtime.evaluate', { expression: '0' }).then(
      () => 'over' as const,
      () => 'over' as const,
    );
    if ((await Promise.race([over, after(IDLE_LIMIT)])) === 'over') return {};
    const stopped = new Promise<'stopped'>((resolve) => this.#stopping.set(place(target), () => resolve('stopped')));
    const first = Promise.race([stopped, over, after(STOP_LIMIT)]);
    try {
      await chrome.debugger.sendCommand(target, 'Debugger.pause');
      await first;
    } finally {
      this.#stopping.delete(place(target));
    }
    if ((await first) === 'stopped') return (await chrome.debugger.sendCommand(target, 'Debugger.resume', { terminateOnResume: true })) ?? {};
    // Nothing runs after all, and whatever does so next is not to be stopped.
    await chrome.debugger.sendCommand(target, 'Debugger.disable');
    debug(target);
    return {};
  }

  /** Whether an event is about what only this class uses. */
  #isOwn(method: string, target: Target): boolean {
    if (method === 'Debugger.paused') {
      const stop = this.#stopping.get(place(target));
      // Nobody wanted it any more.
      if (stop) stop();
      else void chrome.debugger.sendCommand(target, 'Debugger.resume').catch(() => undefined);
    }
    return method.startsWith('Debugger.');
  }
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function place({ tabId, sessionId }: Target): string {
  return `${tabId} ${sessionId ?? ''}`;
}

/** Makes it possible to stop scripts. No page stops itself by that. Nobody waits for it: the page may hang. */
function debug(target: Target): void {
  for (const [method, params] of [['Debugger.enable', {}] as const, ['Debugger.setBreakpointsActive', { active: false }] as const])
    void chrome.debugger.sendCommand(target, method, params).catch(() => undefined);
}

/** What the daemon takes of an answer and of an event: it keeps no more from any browser. */
const MOST_ANSWER = 32 * 1024 * 1024;
const MOST_EVENT = 10 * 1024 * 1024;

/** Within this time a page answers in which nothing runs. */
const IDLE_LIMIT = 150;
/** With the time before, as long as the daemon waits for it. */
const STOP_LIMIT = 850;

/** What Chrome answers in a worker that it has begun to end. */
const NO_WORKER = 'No SW';

/** Chrome wraps its refusals in JSON. */
function words(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
