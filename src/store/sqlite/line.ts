/** The line of waiting links of one site: blocks in a queue, read from its head. */

import { dropFirst, firstOf, pushFirst, pushLast, type Packs } from '../../lib/long-queue.ts';
import { readWaiting, writeWaiting, type Waiting } from '../link-text.ts';
import type { Book } from './book.ts';

/** The columns of a site's row that say where its line is. */
export interface LineEnds {
  /** The numbers of its blocks, as lib/long-queue.ts writes them. */
  line: string;
  /** How far the first of them has been read; READ_IN_BLOCK when that block itself tells. */
  head_at: number;
}

/** Spares a look at the next block when one is used up: it may lie far away. */
export const READ_IN_BLOCK = -1;

/** A block is read whole for each link taken from it, so it stays about one database page long. */
const BLOCK_CHARS_MAX = 3_500;

const insertBlock = ({ sql }: Pick<Book, 'sql'>, block: { via: string; links: string }): number =>
  Number(sql('INSERT INTO block (read_to, via, links) VALUES (0, ?, ?)').run(block.via, block.links).lastInsertRowid);

/** Links in order, cut into blocks of one `via` each and of bounded length. */
const toBlocks = (waiting: readonly Waiting[]): { via: string; links: string }[] => {
  const blocks: { via: string; links: string }[] = [];
  for (const one of waiting) {
    const text = `${writeWaiting(one.link, one.tries)}\n`;
    const last = blocks.at(-1);
    if (last && last.via === one.link.via && last.links.length + text.length <= BLOCK_CHARS_MAX) last.links += text;
    else blocks.push({ via: one.link.via, links: text });
  }
  return blocks;
};

/** Puts links at the end of the line. Changes `ends`; the caller writes them to the site's row. */
export const appendToLine = (book: Pick<Book, 'sql'>, ends: LineEnds, waiting: readonly Waiting[]): void => {
  if (waiting.length === 0) return;
  const packs = packsOf(book);
  for (const block of toBlocks(waiting)) ends.line = pushLast(ends.line, insertBlock(book, block), packs);
};

/** Puts links at the head of the line, keeping their own order. */
export const putFirst = (book: Pick<Book, 'sql'>, ends: LineEnds, waiting: readonly Waiting[]): void => {
  if (waiting.length === 0) return;
  const packs = packsOf(book);
  // The first block is no longer the one that the site's row speaks of: it keeps its own place.
  if (ends.head_at > 0) book.sql('UPDATE block SET read_to = ? WHERE id = ?').run(ends.head_at, firstOf(ends.line));
  for (const block of toBlocks(waiting).reverse()) ends.line = pushFirst(ends.line, insertBlock(book, block), packs);
  ends.head_at = 0;
};

/** Takes the link at the head. The line must not be empty. */
export const takeFirst = (book: Book, ends: LineEnds, site: string): Waiting => {
  const id = firstOf(ends.line);
  const block = book.sql('SELECT read_to, via, links FROM block WHERE id = ?', 'arrays').get(id) as unknown as
    | readonly [readTo: number, via: string, links: string]
    | undefined;
  if (!block) throw new Error(`the line of site "${site}" is broken: block ${id} is missing`);
  const [readTo, via, links] = block;
  const from = ends.head_at === READ_IN_BLOCK ? readTo : ends.head_at;
  const end = links.indexOf('\n', from);
  const taken = readWaiting(links.slice(from, end), via, site);
  if (end + 1 < links.length) {
    ends.head_at = end + 1;
    return taken;
  }
  book.sql('DELETE FROM block WHERE id = ?').run(id);
  ends.line = dropFirst(ends.line, packsOf(book));
  ends.head_at = ends.line === '' ? 0 : READ_IN_BLOCK;
  return taken;
};

/** The packs of long lines, as rows. */
export const packsOf = ({ sql }: Pick<Book, 'sql'>): Packs => ({
  put: (numbers) => Number(sql('INSERT INTO pack (blocks) VALUES (?)').run(numbers.join(' ')).lastInsertRowid),
  get: (pack) => {
    const row = sql('SELECT blocks FROM pack WHERE id = ?', 'arrays').get(pack) as unknown as [string] | undefined;
    if (!row) throw new Error(`pack ${pack} is missing`);
    return row[0].split(' ').map(Number);
  },
  drop: (pack) => void sql('DELETE FROM pack WHERE id = ?').run(pack),
});
