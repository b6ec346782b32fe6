/**
 * One interface to queues of waiting links, whatever place they lie in; it is chosen once, when a crawl is opened.
 *
 * A queue is a list of elements in Redis: blocks of links (`queue-store.ts`), or references to links in files of this
 * machine (`files/`). A link that was taken from a queue is a text and where it was found, as the place has them.
 */

import { StoreFault } from '../../contract/fault.ts';
import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import type { Waiting } from '../../model/waiting.ts';
import type { Hints } from './hints.ts';
import type { Wire } from './wire.ts';

export interface Taken {
  readonly site: string;
  readonly text: string;
  readonly via: string;
}

export interface Element {
  readonly site: string;
  readonly text: string;
  /** `o` of the site for the first element of its queue; 0 for the others. */
  readonly headAt: number;
}

/** For those who only look. What cannot be read is a StoreFault. */
export interface QueueReader {
  link(taken: Taken): Waiting;
  /** The links of an element that still wait. */
  links(element: Element): Waiting[];
  /** What the place keeps beside the queues and does not agree with them, a sentence each. */
  wrong(shards: number): AsyncIterable<string>;
  close(): void;
}

/** For the verbs. */
export interface QueuePlace {
  link: QueueReader['link'];
  /** May be repeated: what is seen is not taken again, though it is then counted as seen. */
  admit(links: readonly Link[], siteWaitingMax: number | null): Promise<Admitted>;
  /** The links that shards leased, with the rules of their origins (or empty), in the order of each. */
  open(claims: readonly Claim[]): Promise<readonly (readonly OpenClaim[])[]>;
  /** Queues that became longer at their end. */
  notice(shard: number, grown: readonly Grown[]): void;
  close(): Promise<void>;
}

export interface QueueParts {
  readonly wire: Wire;
  readonly hints: Hints;
  readonly shards: number;
}

export interface Claim {
  readonly shard: number;
  readonly taken: readonly (Taken & { readonly rules: string })[];
}

export interface OpenClaim extends Waiting {
  readonly rules: string;
}

export type Grown = readonly [site: string, elements: number, links: number];

export interface Lease {
  readonly id: string;
  /** When it runs out; `-` for never. */
  readonly ends: string;
  readonly taken: Taken;
}

const LEASE = /^(\S+\.\d+) (\S+)\n[^\n/]+\/[^\n]*\n([^\n]*)\n(.+)$/;

/** A lease as it is written; null for a text that is none. */
export const readLease = (written: string, site: string): Lease | null => {
  const [, id, ends, via, text] = LEASE.exec(written) ?? [];
  return text === undefined ? null : { id: id!, ends: ends!, taken: { site, text, via: via! } };
};

export interface GivenUp {
  readonly at: number;
  /** Counts the links that a member gave up in a shard, from 1. */
  readonly number: number;
  readonly taken: Taken;
}

/** A link that was given up, as it is on the list of a member. */
export const readGivenUp = (written: string): GivenUp => {
  const [site = '', given = '', via = '', text = ''] = written.split('\n');
  const [at, number] = given.split(' ').map(Number);
  return { at: at!, number: number ?? 0, taken: { site, text, via } };
};

/** Null for what cannot be read. */
export const orNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreFault) return null;
    throw error;
  }
};
