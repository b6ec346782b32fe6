/** The contract of `src/contract/stored-crawl.ts` as tests: the same behaviours for every store. */

import { damageContract } from './stored-damage.ts';
import { fillEndsContract } from './stored-fill-ends.ts';
import { fillPiecesContract } from './stored-fill-pieces.ts';
import { fillContract } from './stored-fill.ts';
import { storedJournalContract } from './stored-journal.ts';
import { notesContract } from './stored-notes.ts';
import { pagesContract } from './stored-pages.ts';
import { randomReadContract } from './stored-random.ts';
import { readContract } from './stored-read.ts';
import { storedRulesContract } from './stored-rules.ts';
import { storedBehaviourOf, type OpenPlace, type StoredPlace } from './stored-scene.ts';
import { sitesContract } from './stored-sites.ts';
import { surveyContract } from './stored-survey.ts';
import type { Tamper } from './stored-tamper.ts';
import { walkContract } from './stored-walk.ts';

export type { OpenPlace, PlaceOptions, StoredPlace } from './stored-scene.ts';
export type { Tamper } from './stored-tamper.ts';

/**
 * Registers all behaviours for one kind of store, under its name. `open` makes a new, empty place each time; `tamper`
 * has the damage that tests of this store can do to one, see `stored-tamper.ts`.
 */
export const storedCrawlContract = <P extends StoredPlace>(
  name: string,
  open: OpenPlace<P>,
  tamper: Partial<Tamper<P>> = {},
): void => {
  const it = storedBehaviourOf(name, open);
  // Only damage needs to know what kind of place it is.
  const itAnywhere = storedBehaviourOf<StoredPlace>(name, open);
  readContract(itAnywhere);
  sitesContract(itAnywhere);
  pagesContract(itAnywhere);
  notesContract(itAnywhere);
  storedJournalContract(itAnywhere);
  walkContract(itAnywhere);
  storedRulesContract(itAnywhere);
  fillContract(itAnywhere);
  fillPiecesContract(itAnywhere);
  fillEndsContract(itAnywhere);
  surveyContract(itAnywhere);
  randomReadContract(itAnywhere);
  damageContract(name, it, tamper);
};
