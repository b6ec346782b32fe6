/** The queue of waiting links of one site: blocks in order, read from the head. */

import { dropFirst, firstOf, pushFirst, pushLast, type Packs } from '../../lib/long-queue.ts';
import type { Waiting } from '../../model/waiting.ts';
import { readWaiting, writeWaiting } from '../waiting-text.ts';
import type { Connection } from './schema.ts';

type Sqlite = Pick<Connection, 'sql'>;

/** The columns of a site's row that say where its queue is. */
export interface QueueEnds {
  /** The numbers of its blocks, as lib/long-queue.ts writes them. */
  queue: string;
  /** How far the first of them has been read; READ_IN_BLOCK when that block itself tells. */
  head_at: number;
}

/** Spares a look at the next block when one is used up: it may lie far away. */
export const READ_IN_BLOCK = -1;

/** A block is read whole for each link taken from it, so it stays about one database page long. */
const BLOCK_CHARS_MAX = 3_500;

interface Block {
  readonly via: string;
  links: string;
}

const insertBlock = ({ sql }: Sqlite, { via, links }: Block): number =>
  Number(sql('INSERT INTO block (read_to, via, links) VALUES (0, ?, ?)').run(via, links).lastInsertRowid);

/** Links in order, cut into blocks of one `via` each and of bounded length. */
const toBlocks = (waiting: readonly Waiting[]): Block[] => {
  const blocks: Block[] = [];
  for (const one of waiting) {
    const { via } = one.link;
    const text = `${writeWaiting(one)}\n`;
    const last = blocks.at(-1);
    if (last && last.via === via && last.links.length + text.length <= BLOCK_CHARS_MAX) last.links += text;
    else blocks.push({ via, links: text });
  }
  return blocks;
};

/** Puts links at the end of the queue. Changes `ends`; the caller writes them to the site's row. */
export const putLast = (sqlite: Sqlite, ends: QueueEnds, waiting: readonly Waiting[]): void => {
  if (waiting.length === 0) return;
  const packs = packsOf(sqlite);
  for (const block of toBlocks(waiting)) ends.queue = pushLast(ends.queue, insertBlock(sqlite, block), packs);
};

/** Puts links at the head of the queue, keeping their own order. Changes `ends`, as `putLast` does. */
export const putFirst = (sqlite: Sqlite, ends: QueueEnds, waiting: readonly Waiting[]): void => {
  if (waiting.length === 0) return;
  const packs = packsOf(sqlite);
  // The first block is no longer the one that the site's row speaks of: it keeps its own place.
  if (ends.head_at > 0) sqlite.sql('UPDATE block SET read_to = ? WHERE id = ?').run(ends.head_at, firstOf(ends.queue));
  for (const block of toBlocks(waiting).reverse())
    ends.queue = pushFirst(ends.queue, insertBlock(sqlite, block), packs);
  ends.head_at = 0;
};

export type BlockRow = readonly [readTo: number, via: string, links: string];

/** Undefined when it is not there. */
export const readBlock = ({ sql }: Sqlite, id: number): BlockRow | undefined =>
  sql('SELECT read_to, via, links FROM block WHERE id = ?', 'arrays').get(id) as unknown as BlockRow | undefined;

/** Takes the link at the head. The queue must not be empty. */
export const takeFirst = (sqlite: Sqlite, ends: QueueEnds, site: string): Waiting => {
  const id = firstOf(ends.queue);
  const block = id === null ? undefined : readBlock(sqlite, id);
  if (!block) throw new Error(`the queue of site "${site}" is broken: block ${id} is missing`);
  const [readTo, via, links] = block;
  const from = ends.head_at === READ_IN_BLOCK ? readTo : ends.head_at;
  const end = links.indexOf('\n', from);
  const taken = readWaiting(links.slice(from, end), via, site);
  if (!taken) throw new Error(`the queue of site "${site}" is broken: block ${id} cannot be read`);
  if (end + 1 < links.length) {
    ends.head_at = end + 1;
    return taken;
  }
  sqlite.sql('DELETE FROM block WHERE id = ?').run(id);
  ends.queue = dropFirst(ends.queue, packsOf(sqlite));
  ends.head_at = ends.queue === '' ? 0 : READ_IN_BLOCK;
  return taken;
};

/** The packs of long queues, as rows. */
export const packsOf = ({ sql }: Sqlite): Packs => ({
  put: (numbers) => Number(sql('INSERT INTO pack (blocks) VALUES (?)').run(numbers.join(' ')).lastInsertRowid),
  get: (pack) => {
    const row = sql('SELECT blocks FROM pack WHERE id = ?', 'arrays').get(pack) as unknown as [string] | undefined;
    if (!row) throw new Error(`pack ${pack} is missing`);
    return row[0].split(' ').map(Number);
  },
  drop: (pack) => void sql('DELETE FROM pack WHERE id = ?').run(pack),
});
