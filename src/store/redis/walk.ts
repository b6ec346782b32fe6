/** Walks all sites of a shard with the blocks of their lines, some at a time. */

import type { Pace } from '../../model/visit.ts';
import type { Look } from './look.ts';

const SITES_AT_ONCE = 500;
/** Of 2 KB each. */
const BLOCKS_AT_ONCE = 300;

export interface SiteRow {
  readonly site: string;
  /** Empty, `l` leased, `p` parked, `h` held; `?` when the site is only on the list. */
  readonly state: string;
  readonly waiting: number;
  readonly pages: number;
  readonly pace: Pace;
  /** Where in the first block the next link begins; 0 when that is unread. */
  readonly headAt: number;
  /** As it is written; empty for none. */
  readonly lease: string;
  /** Its place among the due ones; empty for none. */
  readonly due: string;
  /** When its lease runs out, where leases are in the order of that; empty for none. */
  readonly leaseEnds: string;
  readonly isParked: boolean;
  readonly isHeld: boolean;
  /** Whether it is among the sites of the member that leases it. */
  readonly isMine: boolean;
  readonly blocks: number;
}

const toRow = (text: readonly string[]): SiteRow => {
  const [
    site,
    state,
    waiting,
    pages,
    dueAt,
    delayMs,
    crawlDelayMs,
    responseMs,
    failures,
    headAt,
    lease,
    due,
    leaseEnds,
    isParked,
    isHeld,
    isMine,
    blocks,
  ] = text;
  return {
    site: site!,
    state: state!,
    waiting: Number(waiting),
    pages: Number(pages),
    pace: {
      dueAt: Number(dueAt),
      delayMs: Number(delayMs),
      crawlDelayMs: Number(crawlDelayMs),
      responseMs: Number(responseMs),
      failures: Number(failures),
    },
    headAt: Number(headAt),
    lease: lease!,
    due: due!,
    leaseEnds: leaseEnds!,
    isParked: isParked === '1',
    isHeld: isHeld === '1',
    isMine: isMine === '1',
    blocks: Number(blocks),
  };
};

/** A site, and then the blocks of its line. */
export type Step =
  | { readonly kind: 'site'; readonly row: SiteRow }
  | {
      readonly kind: 'blocks';
      readonly row: SiteRow /** The first of these, from 0. */;
      readonly from: number /** Or references to them, where lines lie in files. */;
      readonly blocks: readonly string[];
    }
  | { readonly kind: 'end'; readonly row: SiteRow };

export async function* walkShard(look: Look, shard: number): AsyncGenerator<Step, void, undefined> {
  for (let from = 0; ; from += SITES_AT_ONCE) {
    const [texts] = (await look.wire.all([{ name: 'siteRows', shard, args: [from, SITES_AT_ONCE] }])) as [string[][]];
    yield* walkSites(look, shard, texts.map(toRow));
    if (texts.length < SITES_AT_ONCE) return;
  }
}

type Blocks = Extract<Step, { kind: 'blocks' }>;

async function* walkSites(look: Look, shard: number, rows: readonly SiteRow[]): AsyncGenerator<Step, void, undefined> {
  const ahead: Blocks[] = [];
  for (const [i, row] of rows.entries()) {
    yield { kind: 'site', row };
    for (let from = 0; from < row.blocks; ) {
      if (ahead.length === 0) ahead.push(...(await read(look, shard, { rows: rows.slice(i), from })));
      const blocks = ahead.shift()!;
      yield blocks;
      if (blocks.blocks.length === 0) break; // taken since the last look
      from += blocks.blocks.length;
    }
    yield { kind: 'end', row };
  }
}

/** The next blocks: of the first of these sites from there on, of the others from the head of their lines. */
const read = async (
  { wire }: Look,
  shard: number,
  { rows, from }: { readonly rows: readonly SiteRow[]; readonly from: number },
): Promise<Blocks[]> => {
  const asked = rows
    .filter(({ blocks }, i) => i === 0 || blocks > 0)
    .slice(0, BLOCKS_AT_ONCE)
    .map((row, i) => ({ row, from: i === 0 ? from : 0 }));
  const [lines] = (await wire.all([
    { name: 'blocks', shard, args: [BLOCKS_AT_ONCE, ...asked.flatMap((one) => [one.row.site, one.from])] },
  ])) as [string[][]];
  return lines.map((blocks, i) => ({ kind: 'blocks', ...asked[i]!, blocks }));
};
