/** A visit's outcome with its archive record, ready to commit. */

import type { Page } from './page.ts';
import type { RobotsRecord } from './robots.ts';
import type { Pace } from './visit.ts';

/** The finished, compressed archive records of one visit: robots.txt first, if it was fetched, then the page. */
export interface RecordGroup {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where in `bytes` the page's records begin; -1 when there is no page. */
  readonly pageAt: number;
  /** Bytes of the page's first record. */
  readonly pageLength: number;
}

export interface Settlement {
  readonly site: string;
  readonly lease: number;
  /**
   * `settled`: the link is done, `page` says how. `retry`: it waits again at the end of its site's queue,
   * its tries counted. `returned`: it waits again at the head, this claim not counted.
   */
  readonly fate: 'settled' | 'retry' | 'returned';
  /** Written when the fate is `settled`. */
  readonly page: Page | null;
  /** robots.txt is archived whatever the fate; the page only when it is settled. */
  readonly records: RecordGroup | null;
  readonly pace: Pace;
  /** The site failed too often: it is parked with the links it has. */
  readonly parked: boolean;
  /** The rules of the link's origin, when they were fetched in this visit; or that they could not be. */
  readonly robots: RobotsRecord | null;
}
