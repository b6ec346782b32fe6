/** What the keys of a crawl mean: whose program may open it, and whether it is whole. */

import { StoreFault } from '../../frontier/store.ts';
import { layoutFault } from '../layouts.ts';

/** What the keys and their values mean. */
export const LAYOUT = 1;

/** What a crawl says of itself. */
export interface Layout {
  readonly layout: number;
  readonly shards: number;
  /** It is being filled from another store. */
  readonly isMoving: boolean;
}

/** As the scripts answer it: layout, number of shards, mark of a move. */
export const readLayout = ([layout, shards, moving]: readonly (string | null)[]): Layout => ({
  layout: Number(layout),
  shards: Number(shards),
  isMoving: (moving ?? '') !== '',
});

/** Throws a StoreFault when another program made it. */
export const checkLayout = (crawl: string, { layout }: Layout): void => {
  if (layout !== LAYOUT)
    throw layoutFault({ kind: 'redis', what: `the crawl "${crawl}" in Redis`, found: layout, known: LAYOUT });
};

/** Throws a StoreFault when it cannot be worked on yet. */
export const checkWhole = (crawl: string, { isMoving }: Layout): void => {
  if (isMoving) throw new StoreFault(`the crawl "${crawl}" is being moved here`, 'run `gossamer migrate` again');
};
