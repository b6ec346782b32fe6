/** Takes in links where lines lie in files: decided first, then written, then known. */

import { StoreFault, type Admitted } from '../../frontier/store.ts';
import { createGroup } from '../../lib/group.ts';
import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { learn, type Book } from './book.ts';
import type { Frontier } from './frontier.ts';
import { writeWaiting } from '../link-text.ts';
import { toBlocks } from './line-writer.ts';
import { writeReference } from './reference.ts';
import type { Call } from './wire.ts';

type Fate = '+' | '=' | '-';

interface Item {
  readonly link: Link;
  readonly siteWaitingMax: number | null;
  readonly print: string;
  fate: Fate;
}

export type Admit = (links: readonly Link[], siteWaitingMax: number | null) => Promise<Admitted>;

/**
 * One group at a time: nobody else admits to this crawl, so what was decided still holds when it is done. A crash
 * before the last step leaves lines that nobody refers to; no link is known before its line is in a file.
 */
export const createFilesAdmit = (book: Book, frontier: Frontier): Admit => {
  const group = createGroup<Item>(async (items) => {
    await book.tending?.room();
    for (const some of withSameMax(items)) {
      let left = some;
      while (left.length > 0) left = await attempt(book, frontier, left);
    }
  });
  return async (links, siteWaitingMax) => {
    const items = links.map(
      (link): Item => ({ link, siteWaitingMax, print: String(BigInt.asIntN(64, fingerprint(link.url))), fate: '=' }),
    );
    await group.add(items);
    const count = (wanted: Fate): number => items.reduce((sum, { fate }) => (fate === wanted ? sum + 1 : sum), 0);
    const full = new Set(items.flatMap(({ fate, link }) => (fate === '-' ? [link.site] : [])));
    return { admitted: count('+'), seen: count('='), forgotten: count('-'), full: [...full] };
  };
};

const withSameMax = (items: readonly Item[]): Item[][] => {
  const runs: Item[][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (last?.[0]?.siteWaitingMax === item.siteWaitingMax && last) last.push(item);
    else runs.push([item]);
  }
  return runs;
};

interface Part {
  readonly shard: number;
  readonly sites: ReadonlyMap<string, Item[]>;
}

const partsOf = ({ shards }: Book, items: readonly Item[]): Part[] => {
  const parts = new Map<number, Map<string, Item[]>>();
  for (const item of items) {
    const shard = shardOf(item.link.site, shards);
    let sites = parts.get(shard);
    if (!sites) parts.set(shard, (sites = new Map()));
    const some = sites.get(item.link.site);
    if (some) some.push(item);
    else sites.set(item.link.site, [item]);
  }
  return [...parts].map(([shard, sites]) => ({ shard, sites }));
};

/** Gives those for which it must be decided again: an earlier try of this very step had come through. */
const attempt = async (book: Book, frontier: Frontier, items: readonly Item[]): Promise<Item[]> => {
  const parts = partsOf(book, items);
  await decide(book, parts);
  const changing = parts.filter(({ sites }) =>
    [...sites.values()].some((some) => some.some(({ fate }) => fate !== '=')),
  );
  if (changing.length === 0) return [];
  const plans = changing.map(({ sites }) =>
    [...sites].map(([site, some]) => planOf(site, some, frontier)).filter(({ prints }) => prints !== ''),
  );
  const appended = frontier.writer.append(plans.flat().flatMap(({ first, others }) => [...first, ...others]));
  try {
    let at = 0;
    const references = (blocks: readonly unknown[]): string =>
      blocks.map(() => writeReference(appended.references[at++]!)).join('\n');
    const {
      opening,
      limits: { referencesMax, blockLinesMax },
    } = frontier;
    const calls = changing.map(({ shard, sites }, i): Call => {
      const forgotten = [...sites.values()].flat().filter(({ fate }) => fate === '-').length;
      const args = plans[i]!.flatMap(({ site, prints, first, others }) => [
        site,
        prints,
        references(first),
        references(others),
      ]);
      return { name: 'admit', shard, args: [opening, referencesMax, blockLinesMax, forgotten, ...args] };
    });
    const answers = (await book.wire.all(calls)) as [string, string, string, number, string[]][];
    return answers.flatMap((answer, i) => {
      const { shard, sites } = changing[i]!;
      learn(book, shard, answer);
      if (answer[3] < 0)
        throw new StoreFault('another process has opened the files of this crawl', 'end it, then resume');
      book.tending?.notice(shard, answer[4]);
      return answer[3] === 1 ? [] : [...sites.values()].flat();
    });
  } finally {
    appended.release();
  }
};

const decide = async (book: Book, parts: readonly Part[]): Promise<void> => {
  const calls = parts.map(({ shard, sites }): Call => {
    const some = [...sites];
    const texts = some.flatMap(([site, items]) => [
      site,
      items.map(({ print, link }) => `${print} ${link.first ? 1 : 0}\n`).join(''),
    ]);
    return { name: 'plan', shard, args: [some[0]![1][0]!.siteWaitingMax ?? '', ...texts] };
  });
  const answers = (await book.wire.all(calls)) as [string, string, string, string[]][];
  answers.forEach((answer, i) => {
    const { shard, sites } = parts[i]!;
    learn(book, shard, answer);
    [...sites.values()].forEach((items, n) => items.forEach((item, at) => (item.fate = answer[3][n]![at] as Fate)));
  });
};

const planOf = (site: string, items: readonly Item[], { limits }: Frontier) => {
  const taken = items.filter(({ fate }) => fate === '+');
  const blocksOf = (first: boolean) =>
    toBlocks(
      taken.flatMap(({ link }) => (link.first === first ? [{ text: writeWaiting(link, 0), via: link.via }] : [])),
      limits,
    );
  return { site, prints: taken.map(({ print }) => print).join(' '), first: blocksOf(true), others: blocksOf(false) };
};
