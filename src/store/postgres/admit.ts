/** Takes in links that were never seen. */

import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import { shardOf } from '../../url/shard.ts';
import { writeWaiting } from '../waiting-text.ts';
import { blockFor, type OpenBlock } from './blocks.ts';
import { keyOf } from './schema.ts';
import type { Session } from './session.ts';
import { arrayOf, textsOf } from './values.ts';

/** Some hundred pages' links: a call of some ten milliseconds where most of them are known. */
const READMITTED_AT_ONCE = 5_000;

/** A batch as `admit.sql` wants it. Numbers count from 1, as PostgreSQL's do. */
interface Batch {
  readonly links: Offered[];
  /** For every link that was given, the number of the link that is sent for it. */
  readonly places: number[];
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
  /** The place of this link among those that were given. */
  readonly at: number;
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
  const places: number[] = [];
  for (const [at, link] of given.entries()) {
    const { site: name, via, first } = link;
    const print = keyOf(link.url);
    const instead = met.get(print) ?? 0;
    const former = links[instead - 1];
    if (former && (!first || former.link.first)) {
      if (!former.link.first) former.times++;
      places.push(instead);
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
    const place = links.push({ link, print, text, block, instead, at, times: 1 });
    met.set(print, place);
    places.push(place);
  }
  return { links, places, blocks, sites: [...sites.keys()] };
};

/** Sends again what was sent lately: the store may have forgotten it. */
export const readmit = async (session: Session): Promise<void> => {
  let some: Link[] = [];
  let max: number | null = null;
  for (const { links, siteWaitingMax } of session.lately.batches()) {
    if (some.length > 0 && (siteWaitingMax !== max || some.length + links.length > READMITTED_AT_ONCE)) {
      await send(session, [some], max);
      some = [];
    }
    some.push(...links);
    max = siteWaitingMax;
  }
  if (some.length > 0) await send(session, [some], max);
};

/** Links that came together: of one page, or of several. */
export const send = async (
  session: Session,
  calls: readonly (readonly Link[])[],
  siteWaitingMax: number | null,
): Promise<Admitted[]> => {
  const given = calls.length === 1 ? calls[0]! : calls.flat();
  if (given.length === 0) return calls.map(() => ({ admitted: 0, seen: 0, forgotten: 0, full: [] }));
  const { links, places, blocks, sites } = batchOf(given);
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
  const [row] = await session.call<{ taken: number[]; forgotten: number[] }>('admit', values);
  const [taken, forgotten] = [new Set(row!.taken), new Set(row!.forgotten)];
  if (taken.size > 0) session.dueHints.forget(shards);
  let at = 0;
  return calls.map((call) => {
    const counts = { admitted: 0, forgotten: 0 };
    const full = new Set<string>();
    for (const link of call) {
      const place = places[at]!;
      if (taken.has(place) && links[place - 1]!.at === at) counts.admitted++;
      else if (forgotten.has(place)) {
        counts.forgotten++;
        full.add(link.site);
      }
      at++;
    }
    return { ...counts, seen: call.length - counts.admitted - counts.forgotten, full: [...full] };
  });
};
