/** What a crawl says of itself: which program may open it, whether it is whole, and where its waiting links lie. */

import { plural } from '../../lib/units.ts';
import { StoreFault } from '../../contract/fault.ts';
import { layoutFault } from '../layouts.ts';
import type { StorePlace } from '../options.ts';
import type { Wire } from './wire.ts';

/** What the keys and their values mean. */
export const LAYOUT = 3;

/** Fields of the crawl's `meta`, as Redis gives them. */
type Said = readonly (string | null)[];

/** How many shards the crawl has; null when there is none. Throws a StoreFault when another program made it. */
export const shardsOf = async (wire: Wire, { crawl }: Pick<StorePlace, 'crawl'>): Promise<number | null> => {
  const [said] = (await wire.read(null, ['HMGET', 'meta', 'layout', 'shards'])) as [Said];
  if (said[0] === null) return null;
  checkLayout(crawl, said);
  return Number(said[1]);
};

const checkLayout = (crawl: string, [layout]: Said): void => {
  if (Number(layout) !== LAYOUT)
    throw layoutFault({ kind: 'redis', what: `the crawl "${crawl}" in Redis`, found: Number(layout), known: LAYOUT });
};

const begin = async (wire: Wire, { crawl, shards }: StorePlace, args: readonly string[]): Promise<[Said, string]> => {
  const [answer] = (await wire.all([{ name: 'begin', shard: null, args: [LAYOUT, shards, ...args] }])) as [
    [Said, string],
  ];
  checkLayout(crawl, answer[0]);
  if (answer[0][2] !== null)
    throw new StoreFault(`the crawl "${crawl}" is being moved here`, 'run `gossamer migrate` again');
  return answer;
};

/** One step of the server: of two that write a note at once the first wins, and repeated it gives what is there. */
export const keepNote = async (wire: Wire, place: StorePlace, note: readonly [name: string, text: string]) =>
  (await begin(wire, place, ['', ...note]))[1];

/** Makes the crawl if it is new. Throws a StoreFault when another program made it, or it is being filled. */
export const makeCrawl = async (wire: Wire, place: StorePlace): Promise<void> => void (await begin(wire, place, ['']));

/** Makes the crawl if it is new. Throws a StoreFault when it is not one that this member can work on. */
export const beginCrawl = async (wire: Wire, place: StorePlace): Promise<void> => {
  const { crawl, member, frontier } = place;
  const [[, shards, , lie, owner]] = await begin(wire, place, [frontier]);
  if (Number(shards) !== place.shards)
    throw new StoreFault(
      `the crawl "${crawl}" in Redis has ${plural(Number(shards), 'shard')}, not ${place.shards}`,
      'use `gossamer migrate` to change that',
    );
  const links = `the waiting links of the crawl "${crawl}" lie in`;
  if (lie === 'files' && owner !== member)
    throw new StoreFault(
      `${links} files of another directory (member ${owner})`,
      'only that one can work on it: resume it there',
    );
  if (lie !== frontier)
    throw new StoreFault(
      `${links} ${lie === 'files' ? 'files, not in Redis' : 'Redis, not in files'}`,
      `${lie === 'files' ? 'give --frontier files' : 'omit --frontier'}: it is fixed when a crawl begins`,
    );
};
