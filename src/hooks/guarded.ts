/** Runs a function of a person's module: what it throws is a value here, and what does not end is interrupted. */

import { createContext, Script } from 'node:vm';

export type Guarded<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'threw'; readonly why: string }
  /** Interrupted: no code of its own ran any more, not even a `finally`. */
  | { readonly kind: 'hung' };

/** A value or an error in a line of the log is cut here. */
const WHY_CHARS_MAX = 300;

/** Node interrupts only what a script calls, so the work is put where one finds it. The guard costs 70 us of CPU. */
const room = createContext({ work: null as (() => void) | null });
const script = new Script('work()', { filename: 'hooks' });

export const guarded = <T>(work: () => T, deadlineMs: number): Guarded<T> => {
  try {
    let value!: T;
    room.work = (): void => void (value = work());
    script.runInContext(room, { timeout: deadlineMs });
    return { kind: 'done', value };
  } catch (error) {
    return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      ? { kind: 'hung' }
      : { kind: 'threw', why: whyOf(error) };
  } finally {
    room.work = null;
  }
};

/** Anything can be thrown, also what cannot be written. */
export const whyOf = (error: unknown): string => {
  try {
    return String(error).replace(/\s+/g, ' ').slice(0, WHY_CHARS_MAX);
  } catch {
    return 'something that cannot be written as text';
  }
};
