/** Takes in links that will lie in files: decided first, then written, then known. */

import { StoreFault } from '../../../contract/fault.ts';
import type { Admitted } from '../../../contract/store.ts';
import { createGroup } from '../../../lib/group.ts';
import type { Link } from '../../../model/link.ts';
import { shardOf } from '../../../url/shard.ts';
import { writeWaiting } from '../../waiting-text.ts';
import type { Hints } from '../hints.ts';
import { printOf } from '../run-line.ts';
import type { Grown, QueuePlace } from '../queue.ts';
import type { Step } from '../wire.ts';
import { writeReference } from './reference.ts';
import type { FilesSession } from './session.ts';
import { toBlocks } from './writer.ts';

/** Whether a link is to be taken, is known, or is over what may wait. */
type Fate = '+' | '=' | '-';

interface Item {
  readonly link: Link;
  readonly siteWaitingMax: number | null;
  readonly print: string;
  fate: Fate;
}

export interface AdmitParts {
  readonly session: FilesSession;
  readonly hints: Hints;
  /** Resolves when more can be admitted. */
  room(): Promise<void>;
  notice(shard: number, grown: readonly Grown[]): void;
}

/**
 * One group at a time: nobody else admits to this crawl, so what was decided still holds when it is done. A crash
 * before the last step leaves links that nobody refers to; no link is known before it is in a file.
 */
export const createFilesAdmit = (parts: AdmitParts): QueuePlace['admit'] => {
  const group = createGroup<Item>(async (items) => {
    await parts.room();
    for (const some of withSameMax(items)) {
      let left = some;
      while (left.length > 0) left = await attempt(parts, left);
    }
  });
  return async (links, siteWaitingMax): Promise<Admitted> => {
    const items = links.map((link): Item => ({ link, siteWaitingMax, print: printOf(link.url), fate: '=' }));
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

const partsOf = ({ shards }: FilesSession, items: readonly Item[]): Part[] =>
  [...Map.groupBy(items, ({ link }) => shardOf(link.site, shards))].map(([shard, some]) => ({
    shard,
    sites: Map.groupBy(some, ({ link }) => link.site),
  }));

type AdmitAnswer = readonly [moments: string, done: number, grown: readonly Grown[]];

/** Gives those for which it must be decided again: an earlier try of this very step had come through. */
const attempt = async (parts: AdmitParts, items: readonly Item[]): Promise<Item[]> => {
  const { session, hints } = parts;
  const all = partsOf(session, items);
  await decide(parts, all);
  const changing = all.filter(({ sites }) => [...sites.values()].flat().some(({ fate }) => fate !== '='));
  if (changing.length === 0) return [];
  const plans = changing.map(({ sites }) =>
    [...sites].map(([site, some]) => planOf(site, some, session)).filter(({ prints }) => prints !== ''),
  );
  const appended = session.writer.append(plans.flat().flatMap(({ first, others }) => [...first, ...others]));
  try {
    let at = 0;
    const references = (blocks: readonly unknown[]): string =>
      blocks.map(() => writeReference(appended.references[at++]!)).join('\n');
    const steps = changing.map(({ shard, sites }, i): Step => {
      const forgotten = [...sites.values()].flat().filter(({ fate }) => fate === '-').length;
      const bySite = plans[i]!.flatMap(({ site, prints, first, others }) => [
        site,
        prints,
        references(first),
        references(others),
      ]);
      return { name: 'files-admit', shard, args: [hints.stamp(shard), session.opening, forgotten, ...bySite] };
    });
    const answers = (await session.wire.all(steps)) as AdmitAnswer[];
    return answers.flatMap((answer, i) => {
      const { shard, sites } = changing[i]!;
      hints.learn(shard, answer[0]);
      if (answer[1] < 0)
        throw new StoreFault('another process has opened the files of this crawl', 'end it, then resume');
      parts.notice(shard, answer[2]);
      return answer[1] === 1 ? [] : [...sites.values()].flat();
    });
  } finally {
    appended.release();
  }
};

const decide = async ({ session, hints }: AdmitParts, parts: readonly Part[]): Promise<void> => {
  const steps = parts.map(({ shard, sites }): Step => {
    const some = [...sites];
    const texts = some.flatMap(([site, items]) => [
      site,
      items.map(({ print, link }) => `${print} ${link.first ? 1 : 0}\n`).join(''),
    ]);
    return { name: 'files-plan', shard, args: [some[0]![1][0]!.siteWaitingMax ?? '', ...texts] };
  });
  const answers = (await session.wire.all(steps)) as [moments: string, plans: string[]][];
  answers.forEach((answer, i) => {
    const { shard, sites } = parts[i]!;
    hints.learn(shard, answer[0]);
    [...sites.values()].forEach((items, n) => items.forEach((item, at) => (item.fate = answer[1][n]![at] as Fate)));
  });
};

const planOf = (site: string, items: readonly Item[], { limits }: FilesSession) => {
  const taken = items.filter(({ fate }) => fate === '+');
  const blocksOf = (first: boolean) =>
    toBlocks(
      taken.flatMap(({ link }) =>
        link.first === first ? [{ text: writeWaiting({ link, tries: 0 }), via: link.via }] : [],
      ),
      limits,
    );
  return { site, prints: taken.map(({ print }) => print).join(' '), first: blocksOf(true), others: blocksOf(false) };
};
