/** The names of all keys of a crawl. Those of a shard carry one hash tag, so that a cluster keeps them on one node. */

import { StoreFault } from '../../contract/fault.ts';

/**
 * The whole crawl has:
 *
 * - `meta`    hash: what the crawl says of itself, and marks
 * - `notes`   hash: texts for those who join
 * - `journal` list of its entries, with `entries` (hash: id -> number)
 * - `members` hash: member -> when it was heard, and its runs; `about` (hash: member -> what it says of itself)
 * - `shut`    hash: shards that went back in time
 * - `news`    hash: shard -> the last beat that told of a change there, and whose
 * - `room`    the lock around the last pages
 *
 * Each shard has:
 *
 * - `count`   hash: counters, the size of the set of known URLs, the moment of the last change
 * - `due`     sorted set: sites that wait, by when they may be visited
 * - `lease`   sorted set: sites under visit, by when their lease runs out
 * - `leased`  hash: site -> its lease with its link
 * - `parked`, `held`  sets of sites
 * - `sites`   list of all sites, as they were found, and of the queues of origins (url/side-queue.ts)
 * - `site:<name>`   hash: state, waiting, pages, dueAt, delay (`e`), crawl delay, response time, failures; `o`, where
 *   its queue begins
 * - `queue:<name>`  list of its waiting links in blocks, or of references to files with them
 * - `seen:<n>`      set of fingerprints of known URLs
 * - `robots`  hash: origin -> its rules, or the name of long ones
 * - `rules`   hash: digest -> text of long rules (model/long-rules.ts)
 * - `batch`   hash: member -> the last batch that it settled here, what of it was refused, and how much it settled
 * - `back`    hash: what is known of the times when the shard went back in time (lua/parts/server.lua)
 * - `gone:<member>` list of links given up whose rows this member has not written yet
 * - `filling` text: what fills the shard from another store, until the crawl is whole
 * - `files`   hash: file -> links of it that are referred to; and the last opening
 */
export interface Keys {
  /** What all keys of a shard begin with; null for the whole crawl. */
  tag(shard: number | null): string;
  /** `<member>` in a name stands for this member. */
  of(name: string, shard: number | null): string;
}

/** What can stand in a key, in a tag and before the slash of a holder without being taken for something else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export const createKeys = (crawl: string, member: string): Keys => {
  for (const [what, name] of Object.entries({ crawl, member })) {
    if (!NAME.test(name))
      throw new StoreFault(
        `"${name}" cannot be the name of a ${what} in Redis`,
        'use letters, digits, dots, dashes and underscores, 100 at the most',
      );
  }
  const tag: Keys['tag'] = (shard) => (shard === null ? `{${crawl}}:` : `{${crawl}:${shard}}:`);
  return { tag, of: (name, shard) => tag(shard) + name.replace('<member>', member) };
};
