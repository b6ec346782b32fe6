/** Work on settled pages that is part of a run: it slows the crawl down when it lags, and ends before it. */

import type { Census } from '../model/census.ts';
import type { Store } from './store.ts';

export interface SettledWork {
  /** Begins with the pages that are settled already and goes on with those to come. Called once, if at all. */
  begin(means: WorkMeans): void;
  /** Whether all pages that are settled at this moment are done. */
  isDone(): Promise<boolean>;
  /** Resolves when all settled pages are done; once `cut` is aborted, when those under way are. Never rejects. */
  end(cut: AbortSignal): Promise<void>;
}

/** What a run lends to the work on its pages. */
export interface WorkMeans {
  readonly store: Pick<Store, 'steer'>;
  /** How far earlier runs came. */
  readonly marks: Census['marks'];
  /** While on, no new visits are claimed. */
  readonly holdBack: (on: boolean) => void;
  /** The crawl cannot go on. */
  readonly fail: (fault: WorkFault) => void;
}

/** Why the work on a page failed, for a person. */
export interface WorkFault {
  readonly message: string;
  readonly advice: string;
  readonly stack: string;
}
