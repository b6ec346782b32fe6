/** Takes in links that were never seen. */

import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import { shardOf } from '../../url/shard.ts';
import { writeWaiting } from '../waiting-text.ts';
import { blockFor, type OpenBlock } from './blocks.ts';
import { keyOf } from './schema.ts';
import type { Session } from './session.ts';
import { arrayOf, textsOf } from './values.ts';

/** A batch as `admit.sql` wants it. Numbers count from 1, as PostgreSQL's do. */
interface Batch {
  readonly links: Offered[];
  readonly blocks: NumberedBlock[];
  readonly sites: string[];
}

interface Offered {
  readonly link: Link;
  readonly print: bigint;
  readonly text: string;
  readonly block: number;
  /** The number of the same link that came before as one for the end; 0 for none. */
  readonly instead: number;
  /** How often it came. */
  times: number;
}

interface NumberedBlock extends OpenBlock {
  readonly number: number;
  readonly site: number;
  readonly first: boolean;
}

/**
 * A link that comes more than once is sent once, with the times that it counts if it is forgotten. One that comes again
 * as first is sent a second time: it is taken instead of the former if there was no room for that.
 */
const batchOf = (given: readonly Link[]): Batch => {
  const links: Offered[] = [];
  const blocks: NumberedBlock[] = [];
  const sites = new Map<string, number>();
  const met = new Map<bigint, number>();
  const open = new Map<string, NumberedBlock>();
  for (const link of given) {
    const { site: name, via, first } = link;
    const print = keyOf(link.url);
    const instead = met.get(print) ?? 0;
    const former = links[instead - 1];
    if (former && (!first || former.link.first)) {
      if (!former.link.first) former.times++;
      continue;
    }
    const text = writeWaiting({ link, tries: 0 });
    const { number: block } = blockFor(open, { end: first ? `first ${name}` : name, via, text }, () => {
      const site = sites.get(name) ?? sites.size + 1;
      sites.set(name, site);
      const made = { number: blocks.length + 1, site, via, first, chars: 0 };
      blocks.push(made);
      return made;
    });
    met.set(print, links.push({ link, print, text, block, instead, times: 1 }));
  }
  return { links, blocks, sites: [...sites.keys()] };
};

export const admit = async (
  session: Session,
  given: readonly Link[],
  siteWaitingMax: number | null,
): Promise<Admitted> => {
  if (given.length === 0) return { admitted: 0, seen: 0, forgotten: 0, full: [] };
  const { links, blocks, sites } = batchOf(given);
  const shards = sites.map((site) => shardOf(site, session.shards));
  const repeats = links.length < given.length || links.some(({ instead }) => instead > 0);
  const values = [
    session.member,
    session.run,
    arrayOf(sites.map(keyOf)),
    textsOf(sites),
    arrayOf(shards),
    arrayOf(blocks.map(({ site }) => site)),
    textsOf(blocks.map(({ via }) => via)),
    arrayOf(blocks.map(({ first }) => first)),
    arrayOf(links.map(({ print }) => print)),
    arrayOf(links.map(({ block }) => block)),
    textsOf(links.map(({ text }) => text)),
    repeats ? arrayOf(links.map(({ times }) => times)) : null,
    repeats ? arrayOf(links.map(({ instead }) => instead)) : null,
    siteWaitingMax,
    session.at(),
  ];
  const [row] = await session.server.call<{ admitted: number; forgotten: number[] }>('admit', values);
  const { admitted } = row!;
  if (admitted > 0) session.dueHints.forget(shards);
  const left = row!.forgotten.map((nth) => links[nth - 1]!);
  const forgotten = left.reduce((sum, { times }) => sum + times, 0);
  const full = [...new Set(left.map(({ link }) => link.site))];
  return { admitted, seen: given.length - admitted - forgotten, forgotten, full };
};
