/** Queues whose links lie in Redis itself, in blocks. */

import { StoreFault } from '../../contract/fault.ts';
import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { readWaiting, readWaitingLines, writeWaiting } from '../waiting-text.ts';
import type { Hints } from './hints.ts';
import type { QueuePlace, QueueReader, Taken } from './queue.ts';
import type { Step, Wire } from './wire.ts';

const broken = (site: string): StoreFault =>
  new StoreFault(`the queue of the site "${site}" is broken`, 'check the crawl by "gossamer verify"');

const link = ({ site, text, via }: Taken) => {
  const waiting = readWaiting(text, via, site);
  if (waiting === null) throw broken(site);
  return waiting;
};

export const storeReader: QueueReader = {
  link,
  links: ({ site, text, headAt }) => {
    const viaEnds = text.indexOf('\n');
    const lines = headAt > 0 ? after(text, headAt) : text.slice(viaEnds + 1);
    const links = viaEnds < 0 || lines === null ? null : readWaitingLines(lines, text.slice(0, viaEnds), site);
    if (links === null) throw broken(site);
    return links;
  },
  wrong: async function* () {},
  close: () => {},
};

/** Steps count bytes, and an address may be written in letters of more than one; null where no line begins. */
const after = (block: string, headAt: number): string | null => {
  const bytes = Buffer.from(block);
  return bytes[headAt - 2] === 0x0a ? bytes.toString('utf8', headAt - 1) : null;
};

/** The fingerprint of a URL as Redis has it: a whole number with a sign. */
export const printOf = (url: string): string => String(BigInt.asIntN(64, fingerprint(url)));

/** A line of a run: fingerprint, 1 if the link goes first, the link. */
export const lineOf = (one: Link, tries: number): string =>
  `${printOf(one.url)} ${one.first ? 1 : 0} ${writeWaiting({ link: one, tries })}\n`;

/** Runs of links of one shard: those of a site together, cut where the page that they were found on changes. */
const runsOf = (links: readonly Link[]): string[] => {
  const bySite = new Map<string, { via: string; text: string }[]>();
  for (const one of links) {
    let runs = bySite.get(one.site);
    if (!runs) bySite.set(one.site, (runs = []));
    const last = runs.at(-1);
    if (last?.via === one.via) last.text += lineOf(one, 0);
    else runs.push({ via: one.via, text: lineOf(one, 0) });
  }
  return [...bySite].flatMap(([site, runs]) => runs.flatMap(({ via, text }) => [site, via, text]));
};

export interface QueueParts {
  readonly wire: Wire;
  readonly hints: Hints;
  readonly shards: number;
}

type AdmitAnswer = readonly [string, string, string, number, number, number, string[]];

export const openStoreQueue = ({ wire, hints, shards }: QueueParts): QueuePlace => ({
  link,
  admit: async (links, siteWaitingMax) => {
    const steps = [...Map.groupBy(links, ({ site }) => shardOf(site, shards))].map(
      ([shard, some]): Step => ({ name: 'admit', shard, args: [siteWaitingMax ?? '', ...runsOf(some)] }),
    );
    const answers = (await wire.all(steps)) as AdmitAnswer[];
    let [admitted, seen, forgotten] = [0, 0, 0];
    const full: string[] = [];
    for (const [i, answer] of answers.entries()) {
      hints.learn(steps[i]!.shard!, answer);
      admitted += answer[3];
      seen += answer[4];
      forgotten += answer[5];
      full.push(...answer[6]);
    }
    return { admitted, seen, forgotten, full };
  },
  open: async (claims) => claims.map(({ taken }) => taken.map((one) => ({ ...link(one), rules: one.rules }))),
  notice: () => {},
  close: async () => {},
});
