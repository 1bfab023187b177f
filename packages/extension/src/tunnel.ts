/** Chrome's debugging protocol, only for the tabs that the daemon works in. */

import type { FromExtension, ToExtension } from './messages.js';
import { excess, smallParts } from './size.js';

type Target = chrome.debugger.DebuggerSession & { tabId: number };

export class Tunnel {
  /** Callbacks that wait until the debugger has paused a script, by target. */
  readonly #stopping = new Map<string, () => void>();
  /** Operations that must not overlap: attaching and detaching a tab, ending scripts in one target. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly tell: (message: FromExtension) => void,
    /** The user pressed "Cancel" in Chrome's bar. */
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
    // A closed tab does not need to be detached.
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

  /** Detaches all tabs that this extension is attached to. Chrome refuses to detach those of other extensions. */
  async detachAll(): Promise<void> {
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
      const why = messageOf(error);
      // Chrome is stopping this worker, so the connection ends too, and the daemon reports that.
      if (why !== NO_WORKER) this.tell({ type: 'cdp', requestId, error: why });
    }
  }

  /** Ends the running script. Chrome does not allow extensions to do that directly, but they can pause it and end it on resume. */
  async #terminate(target: Target): Promise<object> {
    // This runs as soon as that script is over, before any later script, which must not be stopped.
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
    // No script is running after all. The next one must not be stopped.
    await chrome.debugger.sendCommand(target, 'Debugger.disable');
    debug(target);
    return {};
  }

  /** Whether an event belongs to the debugger domain, which only this class uses. */
  #isOwn(method: string, target: Target): boolean {
    if (method === 'Debugger.paused') {
      const stop = this.#stopping.get(place(target));
      // The script was paused after the call had given up.
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

/** Enables pausing of scripts, without breakpoints of the page. The answer is not awaited, because the page may hang. */
function debug(target: Target): void {
  for (const [method, params] of [['Debugger.enable', {}] as const, ['Debugger.setBreakpointsActive', { active: false }] as const])
    void chrome.debugger.sendCommand(target, method, params).catch(() => undefined);
}

/** The largest answer and the largest event that the daemon accepts, the same as from any browser. */
const MOST_ANSWER = 32 * 1024 * 1024;
const MOST_EVENT = 10 * 1024 * 1024;

/** A page that runs no script answers within this time. */
const IDLE_LIMIT = 150;
/** Together with the limit above, as long as the daemon waits. */
const STOP_LIMIT = 850;

/** Chrome's error in a worker that it is stopping. */
const NO_WORKER = 'No SW';

/** The message of an error. Chrome wraps its own in JSON. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
