/** The names of all keys of a crawl. Those of a shard carry one hash tag, so that a cluster keeps them on one node. */

import { StoreFault } from '../../frontier/store.ts';

/**
 * Keys of a shard that every script may declare:
 *
 * - `count`   hash: counters of the shard, the last lease, the size of the seen set
 * - `due`     sorted set: sites at rest with a waiting link, by when they may be called
 * - `lease`   sorted set: sites under visit, by when their lease runs out
 * - `leased`  hash: site -> its lease, its link, who holds it
 * - `parked`, `held`  sets of sites
 * - `sites`   list of all sites, as they were found
 * - `robots`  hash: origin -> its rules
 * - `batch`   hash: member -> the last batch that it settled here, and what of it was refused
 * - `gone`    list of one member: links given up whose rows it has not written yet
 * - `moving`  text: the move that fills the shard, until the crawl is whole
 * - `files`   hash: file -> lines of it that are referred to, where lines lie in files; and the last opening
 *
 * Scripts derive from the tag: `site:<name>` (hash), `line:<name>` (list of blocks of links, or of references to them),
 * `seen:<n>` (set of fingerprints), `mine:<member>` (set of the sites that this member leases).
 */
export type KeyName =
  | 'count'
  | 'due'
  | 'lease'
  | 'leased'
  | 'parked'
  | 'held'
  | 'robots'
  | 'batch'
  | 'gone'
  | 'sites'
  | 'moving'
  | 'files'
  | 'meta'
  | 'notes'
  | 'room';

export interface Keys {
  /** The tag of a shard, with which all its keys begin. */
  tag(shard: number): string;
  of(name: KeyName, shard: number): string;
}

/** What can stand in a key, in a tag and before the slash of a holder without being taken for something else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export const createKeys = (crawl: string, member: string): Keys => {
  for (const [what, name] of [
    ['crawl', crawl],
    ['member', member],
  ] as const) {
    if (!NAME.test(name))
      throw new StoreFault(
        `"${name}" cannot be the name of a ${what} in Redis`,
        'use letters, digits, dots, dashes and underscores, 100 at the most',
      );
  }
  const tag = (shard: number): string => `{${crawl}:${shard}}:`;
  return {
    tag,
    of: (name, shard) => {
      // What is of the whole crawl has a tag of its own.
      if (name === 'meta' || name === 'notes' || name === 'room') return `{${crawl}}:${name}`;
      return name === 'gone' ? `${tag(shard)}gone:${member}` : `${tag(shard)}${name}`;
    },
  };
};
