/** A visit's outcome with its archive record, ready to commit. */

import type { CanonicalUrl } from './link.ts';
import type { OutcomeName } from './outcome.ts';
import type { RobotsRecord } from './robots.ts';
import type { Pace } from './visit.ts';

/** Where a page lies in the archive. The response is first; what belongs to it follows at once. */
export interface Place {
  readonly file: string;
  readonly offset: number;
  /** Bytes of the response record. */
  readonly length: number;
  /** Bytes of all records of this page, the response included. */
  readonly groupLength: number;
}

/** The finished, compressed archive records of one visit: robots.txt first, if it was fetched, then the page. */
export interface RecordGroup {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where in `bytes` the page's records begin; -1 when there is no page. */
  readonly pageAt: number;
  /** Bytes of the page's first record. */
  readonly pageLength: number;
}

/** Everything that is known about a settled link, for people. */
export interface Page {
  readonly url: CanonicalUrl;
  readonly site: string;
  readonly outcome: OutcomeName;
  readonly status: number | null;
  /** When its call left; when it was settled, if none did. */
  readonly at: number;
  readonly durationMs: number;
  readonly contentType: string;
  /** Bytes of the body as it came. */
  readonly bytes: number;
  readonly title: string;
  readonly language: string;
  readonly redirect: string;
  /** `sha1:` and base 32, of the body as it came; empty when there is none. */
  readonly digest: string;
  readonly truncated: string;
  readonly noindex: boolean;
  readonly depth: number;
  readonly via: string;
  readonly tries: number;
  /** What the robots rules in force said: the rule that decided, or why none did. */
  readonly robots: string;
  /** The address dialled; for a failure, what the system said. */
  readonly detail: string;
  /** What `extract` of the --hooks module returned for it, as JSON; empty when nothing. */
  readonly extracted: string;
}

export interface PlacedPage extends Page {
  readonly place: Place | null;
}

export interface Settlement {
  readonly site: string;
  readonly lease: number;
  /**
   * `settled`: the link is done, `page` says how. `retry`: it waits again at the end of its site's line,
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
