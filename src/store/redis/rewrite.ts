/** Writes lines that lie scattered again, together, and puts the new references in the place of the old. */

import type { Frontier, Sparse } from './frontier.ts';
import { toBlocks } from './line-writer.ts';
import { linesIn, packTries, readReference, triedIn, triesOf, writeReference, type Reference } from './reference.ts';
import type { Call } from './wire.ts';

/** References of one site that lie one after the other. */
export interface Run {
  readonly shard: number;
  readonly site: string;
  /** As they are written. */
  readonly texts: readonly string[];
  /** The next line of the first of them, if that is the head of its site's line; null if none of them is. */
  readonly next: number | null;
}

/**
 * A reference that does not say the same tries of all its lines has some bytes for each that was claimed; a claim reads
 * it whole.
 */
const TRIED_MAX = 256;

/**
 * The references that are best merged; null when none are. Never the head: claims move it. It is the longest run in
 * which none is more than twice as long as all behind it together: so a line is written again only when its block grows
 * by half.
 */
export const chooseRun = (
  references: readonly Reference[],
  blockLinesMax: number,
): { readonly from: number; readonly to: number } | null => {
  let best = { from: 0, to: 0 };
  for (let end = references.length - 1; end > 1; end--) {
    let lines = linesIn(references[end]!);
    let tried = triedIn(references[end]!);
    let from = end;
    while (from > 1) {
      const next = references[from - 1]!;
      if (linesIn(next) > 2 * lines || lines + linesIn(next) > blockLinesMax || tried + triedIn(next) > TRIED_MAX)
        break;
      lines += linesIn(next);
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
const readHeld = async ({ wire }: Frontier, sites: readonly { shard: number; site: string }[]): Promise<Held[]> => {
  const calls = sites.map(({ shard, site }): Call => ({ name: 'references', shard, args: [site] }));
  return ((await wire.all(calls)) as [number, string[]][]).map(([next, texts]) => ({ next, texts }));
};

/** Merges references of these sites. */
export const merge = async (frontier: Frontier, sites: readonly { shard: number; site: string }[]): Promise<void> => {
  const held = await readHeld(frontier, sites);
  const runs = sites.flatMap((at, i): Run[] => {
    const { texts } = held[i]!;
    const run = chooseRun(texts.map(readReference), frontier.limits.blockLinesMax);
    return run ? [{ ...at, texts: texts.slice(run.from, run.to), next: null }] : [];
  });
  // A full block at a time, so that no call of the store waits long for it.
  for (const some of upTo(frontier.limits.blockLinesMax, runs)) await rewrite(frontier, some);
};

const upTo = (linesMax: number, runs: readonly Run[]): Run[][] => {
  const groups: Run[][] = [];
  let lines = Infinity;
  for (const run of runs) {
    const more = run.texts.reduce((sum, text) => sum + linesIn(readReference(text)), 0);
    if (lines + more > linesMax) {
      groups.push([]);
      lines = 0;
    }
    groups.at(-1)!.push(run);
    lines += more;
  }
  return groups;
};

/** Sites that are looked at by one call, so that none holds up the others for long. */
const SITES_AT_ONCE = 500;

/** Writes what is left in these files again, so that they can be deleted. */
export const empty = async (frontier: Frontier, { files, shards }: Sparse): Promise<void> => {
  const names = [...files].map((file) => file.toString(36));
  for (const shard of shards) {
    for (let from = 0; ; from += SITES_AT_ONCE) {
      const [[looked, found]] = (await frontier.wire.all([
        { name: 'sitesIn', shard, args: [from, SITES_AT_ONCE, ...names] },
      ])) as [[number, string[]]];
      for (const site of found) {
        const [held] = await readHeld(frontier, [{ shard, site }]);
        await rewrite(frontier, runsInto(files, { ...held!, shard, site }));
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
    if (!files.has(readReference(text).file)) return;
    // A run of its own for the head: it is refused if a claim moves it meanwhile.
    if (last === i - 1 && last > 0) runs.at(-1)!.texts.push(text);
    else runs.push({ shard, site, texts: [text], next: i === 0 ? next : null });
    last = i;
  });
  return runs;
};

/** A run that does not lie so any more is left alone, and what was written for it is never read. */
const rewrite = async (frontier: Frontier, runs: readonly Run[]): Promise<void> => {
  const { wire, files, writer, limits, opening } = frontier;
  if (runs.length === 0) return;
  const blocks = runs.map(({ texts, next }) => {
    const lines = texts.map(readReference).flatMap((reference, i) => {
      const left = i === 0 && next !== null && next > 0 ? { ...reference, from: next } : reference;
      return files.lines(left).map((line, n) => ({ ...line, tries: triesOf(left, left.from + n) }));
    });
    return toBlocks(lines, limits);
  });
  const appended = writer.append(blocks.flat());
  try {
    let at = 0;
    const calls = runs.map(({ shard, site, texts, next }, i): Call => {
      const references = blocks[i]!.map((lines) =>
        writeReference({ ...appended.references[at++]!, tries: packTries(lines.map(({ tries }) => tries)) }),
      );
      return { name: 'replace', shard, args: [opening, site, next ?? '', texts.length, ...texts, ...references] };
    });
    await wire.all(calls);
  } finally {
    appended.release();
  }
};
