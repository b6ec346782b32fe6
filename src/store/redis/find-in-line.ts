/** Where is a link: in the line of its site, under visit, settled, or unknown? */

import type { OpenLink } from '../../frontier/store.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import type { Look } from './look.ts';
import type { LineReader } from './read-lines.ts';
import type { ViewText } from './read-sites.ts';

/** About 10 M links and some seconds. A line can be longer only without --max-waiting-per-site. */
const BLOCKS_MAX = 200_000;
/** About 125,000 links and 20 ms of the server: most lines are looked at in one step. */
const BLOCKS_PER_CALL = 5_000;

type LinkText = readonly [
  view: ViewText,
  lease: string,
  known: number,
  found: readonly string[],
  looked: number,
  more: number,
];

export interface Whereabouts {
  /** The site; empty when it is not known. */
  readonly view: ViewText;
  /** The link of the site that is under visit. */
  readonly leased: Waiting | null;
  readonly found: OpenLink | null;
  /** The URL was admitted once. */
  readonly isKnown: boolean;
  /** The whole line was looked at, and did not change meanwhile. */
  readonly isSure: boolean;
  readonly lookedAt: number;
}

/** What the script says instead of whether there is more. */
const IN_FILES = 2;

interface InFiles extends Wanted {
  readonly shard: number;
  readonly answer: LinkText;
}

interface Wanted {
  readonly url: string;
  readonly site: string;
  /** With 0 the line is not looked at. */
  readonly blocksMax?: number | undefined;
}

export const whereIs = async (
  look: Look,
  lines: LineReader,
  { url, site, blocksMax = BLOCKS_MAX }: Wanted,
): Promise<Whereabouts> => {
  const { wire, shards } = look;
  const shard = shardOf(site, await shards());
  const print = String(BigInt.asIntN(64, fingerprint(url)));
  let lookedAt = 0;
  let first: LinkText | null = null;
  for (let from = 0; ; from += BLOCKS_PER_CALL) {
    const most = Math.min(BLOCKS_PER_CALL, blocksMax - from);
    const [answer] = (await wire.all([{ name: 'link', shard, args: [site, url, print, most, from] }])) as [LinkText];
    first ??= answer;
    const [view, lease, known, found, looked, more] = answer;
    if (more === IN_FILES) return inFiles(look, lines, { shard, url, site, answer });
    lookedAt += looked;
    const isEnd = found.length > 0 || more === 0 || from + most >= blocksMax;
    if (!isEnd) continue;
    const isStill = from === 0 || JSON.stringify([view, lease]) === JSON.stringify([first[0], first[1]]);
    return {
      view,
      leased: lines.leased(lease, site),
      found: found.length === 0 ? null : { ...readWaiting(found[1]!, found[0]!, site), ahead: lookedAt - 1 },
      isKnown: known === 1,
      isSure: more === 0 && isStill,
      lookedAt,
    };
  }
};

/** Its references in one step, and then what they refer to; those that are taken meanwhile may be gone. */
const inFiles = async (
  { wire }: Look,
  lines: LineReader,
  { shard, url, site, answer: [view, lease, known] }: InFiles,
): Promise<Whereabouts> => {
  const [[headAt, references]] = (await wire.all([{ name: 'references', shard, args: [site] }])) as [
    [number, string[]],
  ];
  const where = { view, leased: lines.leased(lease, site), isKnown: known === 1 };
  let lookedAt = 0;
  let isSure = true;
  for (const [i, text] of references.entries()) {
    const links = lines.links({ site, text, headAt: i === 0 ? headAt : 0 });
    const at = links?.findIndex(({ link }) => link.url === url) ?? -1;
    if (at >= 0)
      return { ...where, found: { ...links![at]!, ahead: lookedAt + at }, isSure, lookedAt: lookedAt + at + 1 };
    isSure &&= links !== null;
    lookedAt += links?.length ?? 0;
  }
  return { ...where, found: null, isSure, lookedAt };
};
