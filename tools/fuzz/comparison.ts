/** Two readers of the same input, which should agree. */

import type { Chance } from '../../tests/support/broken-pages.ts';

export interface Tried {
  /** `known`: they differ in a way that is meant, or known. */
  readonly verdict: 'agreed' | 'known' | 'differs';
  readonly input: string;
  /** What the difference is; empty when there is none. */
  readonly says: string;
}

export interface Comparison {
  readonly name: string;
  /** Whose reading ours is compared with. */
  readonly against: string;
  /** An input by chance, read by both. */
  readonly try: (chance: Chance) => Promise<Tried>;
  readonly close: () => Promise<void>;
}
