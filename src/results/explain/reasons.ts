/** Why a link was not crawled, in one name each. */

import type { OutcomeName } from '../../model/outcome.ts';

/** The names for links that are not settled; a settled one has the name of its outcome. */
export const OPEN_REASONS = {
  'under-visit': 'it is being visited, or was when the crawl ended',
  waiting: 'it waits in the queue of its site',
  'in-trouble': 'it waits, and its origin or its site is visited again only after a pause, because it failed',
  parked: 'its origin could not be reached too often in a row, or its host name does not exist',
  held: 'its site has all the pages that --max-pages-per-site, or its rule, allows',
  'max-pages': 'it waits, and the crawl has all the pages that --max-pages allows',
  'settled-elsewhere': 'another member of the crawl settled it, and what became of it is in the directory of that one',
  unknown: 'no page that was crawled links to it, or the link was not taken',
} as const;

/**
 * An outcome of a link that is not settled is the one it will get when its turn comes, or, if it is not
 * known either, what would become of it.
 */
export type ReasonName = OutcomeName | keyof typeof OPEN_REASONS;
