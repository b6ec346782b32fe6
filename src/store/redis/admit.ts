/** Takes in links that will lie in Redis: those of pages that come close together share one step per shard. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import { shardOf } from '../../url/shard.ts';
import type { QueueParts, QueuePlace } from './queue.ts';
import { lineOf } from './run-line.ts';
import type { Step } from './wire.ts';

/**
 * A step costs as much as several links, and a page has links for some ten shards. A visit waits no longer for this
 * than for the web anyway.
 */
const GATHER_MS = 30;
/** After so many in a row that came alone there is nothing to wait for. */
const ALONE_MIN = 8;
/** What waits is sent before it has more links: a step then takes some milliseconds at the most. */
const LINKS_MAX = 5_000;

/** Whether a link was taken, is known, or is over what may wait. */
type Fate = '+' | '=' | '-';

interface Item {
  readonly link: Link;
  fate: Fate;
}

/** What one call asks for. */
interface Call {
  readonly items: readonly Item[];
  readonly siteWaitingMax: number | null;
  readonly done: PromiseWithResolvers<void>;
}

type AdmitAnswer = readonly [moments: string, fates: string];

export const createAdmit = (parts: QueueParts): QueuePlace['admit'] => {
  let line: Call[] = [];
  let [underWay, alone, isGathering] = [0, ALONE_MIN, false];

  const send = async (): Promise<void> => {
    const calls = line;
    line = [];
    alone = calls.length === 1 ? alone + 1 : 0;
    underWay++;
    try {
      for (const some of Map.groupBy(calls, (call) => call.siteWaitingMax).values())
        await admitTogether(
          parts,
          some.flatMap(({ items }) => items),
          some[0]!.siteWaitingMax,
        );
      for (const { done } of calls) done.resolve();
    } catch (error) {
      for (const { done } of calls) done.reject(error);
    } finally {
      underWay--;
    }
  };

  const gather = async (): Promise<void> => {
    isGathering = true;
    if (alone < ALONE_MIN) await sleep(GATHER_MS);
    isGathering = false;
    if (line.length > 0) await send();
  };

  return async (links, siteWaitingMax): Promise<Admitted> => {
    const items = links.map((link): Item => ({ link, fate: '=' }));
    if (underWay > 0) alone = 0; // another is on its way: more will come
    const call = { items, siteWaitingMax, done: Promise.withResolvers<void>() };
    line.push(call);
    if (line.reduce((sum, one) => sum + one.items.length, 0) > LINKS_MAX) void send();
    else if (!isGathering) void gather();
    await call.done.promise;
    const count = (wanted: Fate): number => items.reduce((sum, { fate }) => (fate === wanted ? sum + 1 : sum), 0);
    const full = new Set(items.flatMap(({ fate, link }) => (fate === '-' ? [link.site] : [])));
    return { admitted: count('+'), seen: count('='), forgotten: count('-'), full: [...full] };
  };
};

const admitTogether = async (
  { wire, hints, shards }: QueueParts,
  all: readonly Item[],
  siteWaitingMax: number | null,
): Promise<void> => {
  const byShard = [...Map.groupBy(all, ({ link }) => shardOf(link.site, shards))].map(([shard, some]) => ({
    shard,
    // Links of a site together, each in their order.
    items: [...Map.groupBy(some, ({ link }) => link.site).values()].flat(),
  }));
  const steps = byShard.map(
    ({ shard, items }): Step => ({
      name: 'admit',
      shard,
      args: [hints.stamp(shard), siteWaitingMax ?? '', ...runsOf(items)],
    }),
  );
  const answers = (await wire.all(steps)) as AdmitAnswer[];
  for (const [i, [moments, fates]] of answers.entries()) {
    const { shard, items } = byShard[i]!;
    hints.learn(shard, moments);
    items.forEach((item, n) => (item.fate = fates[n] as Fate));
  }
};

/** Site, page and lines in turn, for links of one shard: cut where the page that they were found on changes. */
const runsOf = (items: readonly Item[]): string[] => {
  const runs: string[] = [];
  let last: Link | null = null;
  for (const { link } of items) {
    if (last?.site === link.site && last.via === link.via) runs.push(runs.pop()! + lineOf(link, 0));
    else runs.push(link.site, link.via, lineOf(link, 0));
    last = link;
  }
  return runs;
};
