/** The journal of a crawl: numbered changes that hold for all its members, in the order in which they were made. */

export interface Entry {
  /** From 1, without a gap. */
  readonly number: number;
  /** Made by who writes it: an entry is written once, however often it is sent. */
  readonly id: string;
  /** The store's time. */
  readonly at: number;
  /** What changed, as JSON; the store does not look inside. */
  readonly text: string;
}

export type NewEntry = Pick<Entry, 'id' | 'text'>;

/** What a member learns when the store has heard that it lives. */
export interface Beat {
  /** The number of the last entry of the journal; 0 before the first. */
  readonly entry: number;
  /**
   * Rises when leases of this member may be lost: visits of an earlier term must end, and their settlements are
   * refused. Also every claim answers with it.
   */
  readonly term: number;
}

/** A directory that takes part in a crawl, as the store knows it. */
export interface MemberView {
  readonly member: string;
  /** When the store last heard of it, by the store's time; 0 where it does not tell. */
  readonly seenAt: number;
  /** Whether a process works there now, as far as the store knows. */
  readonly isLive: boolean;
  /** Links that it settled. */
  readonly settled: number;
  readonly about: MemberAbout | null;
}

/** What a member says of itself. */
export interface MemberAbout {
  readonly host: string;
  readonly pid: number;
  readonly dir: string;
  /** The version of this program. */
  readonly version: string;
  /** When its process began, by the store's time or its own. */
  readonly startedAt: number;
}
