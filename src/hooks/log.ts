/** Failures of hooks as lines of the log: the first ones in full, the others counted. */

import { writeCount } from '../lib/units.ts';
import type { HookTrouble } from '../model/hooks.ts';

/** Lines with a URL, for each hook and cause. */
const LINES_MAX = 3;
/** From here on, a line whenever the count has one more digit. */
const COUNT_TOLD_FIRST = 100;
/** Causes that are told apart; one that holds a URL would be another each time. */
const CAUSES_MAX = 20;

export interface HookLog {
  note(trouble: HookTrouble): void;
  /** Sums up what was counted and not shown. */
  close(): void;
}

export interface HookLogOptions {
  readonly path: string;
  /** The thread whose counts these are. */
  readonly thread: string;
  readonly warn: (message: string) => void;
}

export const createHookLog = ({ path, thread, warn }: HookLogOptions): HookLog => {
  const counts = new Map<string, { readonly hook: string; readonly why: string; count: number }>();
  const causeOf = ({ hook, why }: HookTrouble): { readonly hook: string; readonly why: string; count: number } => {
    const key = counts.has(`${hook} ${why}`) || counts.size < CAUSES_MAX ? `${hook} ${why}` : hook;
    const known = counts.get(key) ?? { hook, why: key === hook ? 'for other causes' : why, count: 0 };
    counts.set(key, known);
    return known;
  };
  const sum = ({ hook, why, count }: ReturnType<typeof causeOf>): void =>
    warn(`${hook}() of the hooks "${path}" has failed ${writeCount(count)} times in ${thread}: ${why}`);
  return {
    note: (trouble) => {
      const cause = causeOf(trouble);
      cause.count++;
      if (cause.count <= LINES_MAX) {
        warn(
          `${trouble.hook}() of the hooks "${path}" failed${trouble.url === '' ? '' : ` for ${trouble.url}`}: ${trouble.why}` +
            (cause.count === LINES_MAX ? '; from here on these are counted' : ''),
        );
      } else if (cause.count >= COUNT_TOLD_FIRST && /^10*$/.test(String(cause.count))) sum(cause);
    },
    close: () => {
      for (const cause of counts.values()) if (cause.count > LINES_MAX) sum(cause);
    },
  };
};
