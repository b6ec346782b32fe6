/** A visit's outcome with its archive record, ready to commit. */

import type { CarriedRobots } from './long-rules.ts';
import type { Page } from './page.ts';
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
  /** The queue is parked with the links it has: only that of an origin in trouble ever is. */
  readonly parked: boolean;
  /** What is known of the link's origin, if this visit learned something. Rules that the store has may be named. */
  readonly robots: CarriedRobots | null;
  /** Only with `returned`: the link goes to another queue of its site instead. */
  readonly to?: Destination;
}

/** From a site's queue to one beside it (url/side-queue.ts), or from there back. */
export interface Destination {
  /** The name of the queue; it is made if it is not there. */
  readonly queue: string;
  /** To its head; otherwise to its end. */
  readonly first: boolean;
  /** What a queue begins with that is made now; one that is there takes it over only if `isNews`. */
  readonly pace: Pace;
  readonly parked: boolean;
  /** The queue is one of links that are not wanted for now. */
  readonly held?: boolean;
  readonly isNews: boolean;
}
