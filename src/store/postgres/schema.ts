/** Names and numbers of a crawl in a PostgreSQL database. */

import { StoreFault } from '../../contract/fault.ts';
import { fingerprint } from '../../url/fingerprint.ts';

/** The tables: whoever changes one of them raises this. Functions have versions of their own, see sql.ts. */
export const LAYOUT = 3;

/** Names that PostgreSQL takes as they are; with the prefix they stay below its 63 characters. */
const CRAWL_NAME = /^[a-z0-9_]{1,50}$/;

/** The schema that has the tables of the crawl. */
export const schemaOf = (crawl: string): string => {
  if (CRAWL_NAME.test(crawl)) return `gossamer_${crawl}`;
  throw new StoreFault(
    `"${crawl}" cannot be the name of a crawl in PostgreSQL`,
    'use up to 50 of the characters a-z, 0-9 and _',
  );
};

/** A name as PostgreSQL's bigint: the bits of its fingerprint, signed. */
export const keyOf = (text: string): bigint => BigInt.asIntN(64, fingerprint(text));

/** Numbers of advisory locks: one space for all who use the database, so they are hashes of what they are for. */
export const lockKey = (schema: string, purpose: 'layout' | 'pages'): bigint => keyOf(`gossamer ${purpose} ${schema}`);
/** Each call of a member holds this lock, with the hash of the member's name, until it has ended. */
export const fenceKey = (schema: string): number => Number(BigInt.asIntN(32, fingerprint(`gossamer fence ${schema}`)));

/** In the table `meta`, before the names of notes. */
export const NOTE = 'note ';
/** In the table `meta`, the name of a move that has not ended. */
export const MOVING = 'moving';
