/** Writes links that lie scattered again, together, and puts the new references in the place of the old. */

import { StoreFault } from '../../../contract/fault.ts';
import { reading, type Step } from '../wire.ts';
import { linksIn, packTries, readReference, triedIn, triesOf, writeReference, type Reference } from './reference.ts';
import type { FilesSession, Sparse } from './session.ts';
import { toBlocks } from './writer.ts';

/** References of one site that lie one after the other. */
export interface Run {
  readonly shard: number;
  readonly site: string;
  /** As they are written. */
  readonly texts: readonly string[];
  /** The next link of the first of them, if that is the head of its queue; null if none of them is. */
  readonly next: number | null;
}

/**
 * A reference that does not say the same tries of all its links has some bytes for each that was claimed; a claim reads
 * it whole.
 */
const TRIED_MAX = 256;

/**
 * The references that are best merged; null when none are. Never the head: claims move it. It is the longest run in
 * which none is more than twice as long as all after it together: so a link is written again only when its block grows
 * by half.
 */
export const chooseRun = (
  references: readonly Reference[],
  blockLinksMax: number,
): { readonly from: number; readonly to: number } | null => {
  let best = { from: 0, to: 0 };
  for (let end = references.length - 1; end > 1; end--) {
    let links = linksIn(references[end]!);
    let tried = triedIn(references[end]!);
    let from = end;
    while (from > 1) {
      const next = references[from - 1]!;
      if (linksIn(next) > 2 * links || links + linksIn(next) > blockLinksMax || tried + triedIn(next) > TRIED_MAX)
        break;
      links += linksIn(next);
      tried += triedIn(next);
      from--;
    }
    if (end + 1 - from > best.to - best.from) best = { from, to: end + 1 };
    if (best.to - best.from >= end) break; // what is left cannot be longer
  }
  return best.to - best.from > 1 ? best : null;
};

interface Held {
  readonly next: number;
  readonly texts: readonly string[];
}

/** The references of sites as Redis has them now. */
const readHeld = async ({ wire }: FilesSession, sites: readonly { shard: number; site: string }[]): Promise<Held[]> => {
  const answers = (await wire.all(
    sites.map(({ shard, site }) =>
      reading(shard, [
        ['HGET', `site:${site}`, 'o'],
        ['LRANGE', `queue:${site}`, 0, -1],
      ]),
    ),
  )) as [string | null, string[]][];
  return answers.map(([next, texts]) => ({ next: Number(next), texts }));
};

/** What a text refers to; steps write nothing else into a queue. */
const referenceOf = (text: string): Reference => {
  const reference = readReference(text);
  if (reference === null)
    throw new StoreFault(`"${text}" is no reference to a file`, 'check the crawl by "gossamer verify"');
  return reference;
};

/** Merges references of these sites. */
export const merge = async (
  session: FilesSession,
  sites: readonly { shard: number; site: string }[],
): Promise<void> => {
  const held = await readHeld(session, sites);
  const runs = sites.flatMap((at, i): Run[] => {
    const { texts } = held[i]!;
    const run = chooseRun(texts.map(referenceOf), session.limits.blockLinksMax);
    return run ? [{ ...at, texts: texts.slice(run.from, run.to), next: null }] : [];
  });
  // A full block at a time, so that no call of the store waits long for it.
  for (const some of upTo(session.limits.blockLinksMax, runs)) await rewrite(session, some);
};

const upTo = (linksMax: number, runs: readonly Run[]): Run[][] => {
  const groups: Run[][] = [];
  let links = Infinity;
  for (const run of runs) {
    const more = run.texts.reduce((sum, text) => sum + linksIn(referenceOf(text)), 0);
    if (links + more > linksMax) {
      groups.push([]);
      links = 0;
    }
    groups.at(-1)!.push(run);
    links += more;
  }
  return groups;
};

/** Sites that are looked at by one step, so that none holds up the others for long. */
const SITES_AT_ONCE = 500;

/** Writes what is left in these files again, so that they can be deleted. */
export const empty = async (session: FilesSession, { files, shards }: Sparse): Promise<void> => {
  const names = [...files].map((file) => file.toString(36));
  for (const shard of shards) {
    for (let from = 0; ; from += SITES_AT_ONCE) {
      const [[looked, found]] = (await session.wire.all([
        { name: 'files-sites', shard, args: [from, SITES_AT_ONCE, ...names] },
      ])) as [[number, string[]]];
      for (const site of found) {
        const [held] = await readHeld(session, [{ shard, site }]);
        await rewrite(session, runsInto(files, { ...held!, shard, site }));
      }
      if (looked < SITES_AT_ONCE) break;
    }
  }
};

/** The references of a site into these files, those that lie one after the other together. */
const runsInto = (
  files: ReadonlySet<number>,
  { shard, site, next, texts }: Held & { shard: number; site: string },
): Run[] => {
  const runs: { shard: number; site: string; texts: string[]; next: number | null }[] = [];
  let last = -2;
  texts.forEach((text, i) => {
    if (!files.has(referenceOf(text).file)) return;
    // A run of its own for the head: it is refused if a claim moves it meanwhile.
    if (last === i - 1 && last > 0) runs.at(-1)!.texts.push(text);
    else runs.push({ shard, site, texts: [text], next: i === 0 ? next : null });
    last = i;
  });
  return runs;
};

/** A run that does not lie so any more is left alone, and what was written for it is never read. */
const rewrite = async (session: FilesSession, runs: readonly Run[]): Promise<void> => {
  const { wire, files, writer, limits, opening } = session;
  if (runs.length === 0) return;
  const blocks = runs.map(({ texts, next }) => {
    const links = texts.map(referenceOf).flatMap((reference, i) => {
      const left = i === 0 && next !== null && next > 0 ? { ...reference, from: next } : reference;
      return files.texts(left).map((link, n) => ({ ...link, tries: triesOf(left, left.from + n) }));
    });
    return toBlocks(links, limits);
  });
  const appended = writer.append(blocks.flat());
  try {
    let at = 0;
    const steps = runs.map(({ shard, site, texts, next }, i): Step => {
      const references = blocks[i]!.map((links) =>
        writeReference({ ...appended.references[at++]!, tries: packTries(links.map(({ tries }) => tries)) }),
      );
      return { name: 'files-replace', shard, args: [opening, site, next ?? '', texts.length, ...texts, ...references] };
    });
    await wire.all(steps);
  } finally {
    appended.release();
  }
};
