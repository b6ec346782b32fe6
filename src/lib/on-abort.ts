/** Many callbacks behind one listener of a signal. */

/** Callbacks that wait for a signal which is not aborted yet. */
interface Waiting {
  readonly tells: Set<() => void>;
  readonly listener: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `tell` when the signal is aborted, unless the function it gives was called before. One that is aborted
 * already tells nobody: look first.
 *
 * A signal walks over all its listeners whenever one comes or goes: 23 microseconds with 2,000 calls
 * under way (Node 24), against half a one with a set of our own.
 */
export const onAbort = (signal: AbortSignal, tell: () => void): (() => void) => {
  const waiting = waitingFor.get(signal) ?? listen(signal);
  waiting.tells.add(tell);
  return () => {
    // A signal made of others lives as long as somebody listens to it, so the last one turns off the light.
    if (!waiting.tells.delete(tell) || waiting.tells.size > 0) return;
    signal.removeEventListener('abort', waiting.listener);
    waitingFor.delete(signal);
  };
};

const listen = (signal: AbortSignal): Waiting => {
  const tells = new Set<() => void>();
  const listener = (): void => {
    for (const tell of tells) tell();
    tells.clear();
    waitingFor.delete(signal);
  };
  signal.addEventListener('abort', listener, { once: true });
  const waiting = { tells, listener };
  waitingFor.set(signal, waiting);
  return waiting;
};
