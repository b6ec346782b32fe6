/** What the parts of a survey share: what was counted, what was met, what is wrong. */

import type { Look } from './look.ts';

/** Counters as the table `tally` names them. */
export type Counted = Record<string, number>;

export interface Course {
  readonly look: Look;
  readonly counted: Counted;
  wrong(says: string): void;
  /** A link was met; `settled` when it is a page. */
  meet(url: string, settled: boolean): void;
}

export const count = (counted: Counted, name: string, by = 1): void => {
  if (by !== 0) counted[name] = (counted[name] ?? 0) + by;
};
