/** The line of waiting links of one site: a chain of blocks, read from its head. */

import type { CanonicalUrl, Link } from '../../model/link.ts';
import type { Book } from './book.ts';

/** A waiting link with how often it was claimed. */
export interface Waiting {
  readonly link: Link;
  readonly tries: number;
}

/** The columns of a site's row that say where its line begins and ends. */
export interface LineEnds {
  head: number | null;
  head_at: number;
  tail: number | null;
}

/** A block is read whole for each link taken from it, so it stays about one database page long. */
const BLOCK_CHARS_MAX = 3_500;

/** The third number of a line: what marks a link has, a bit each. */
const FALLBACK = 1;
const NAMED_SITEMAP = 2;
const LISTED_SITEMAP = 4;

const marksOf = ({ fallback, sitemap }: Link): number =>
  (fallback ? FALLBACK : 0) | (sitemap === 'named' ? NAMED_SITEMAP : sitemap === 'listed' ? LISTED_SITEMAP : 0);

const write = ({ link, tries }: Waiting): string => `${link.depth} ${link.hops} ${marksOf(link)} ${tries} ${link.url}\n`;

/** A link as a block has it, without the end of its line. */
export const readWaiting = (line: string, via: string, site: string): Waiting => {
  const [depth, hops, written, tries, url] = line.split(' ', 5) as [string, string, string, string, string];
  const marks = Number(written);
  const link: Link = {
    url: url as CanonicalUrl, site, depth: Number(depth), via, hops: Number(hops), fallback: (marks & FALLBACK) !== 0, first: false,
  };
  if (marks <= FALLBACK) return { tries: Number(tries), link };
  return { tries: Number(tries), link: { ...link, sitemap: marks & NAMED_SITEMAP ? 'named' : 'listed' } };
};

const insertBlock = (book: Pick<Book, 'sql'>, next: number | null, block: { via: string; links: string }): number =>
  Number(book.sql('INSERT INTO block (next, read_to, via, links) VALUES (?, 0, ?, ?)').run(next, block.via, block.links).lastInsertRowid);

/** Links in order, cut into blocks of one `via` each and of bounded length. */
const toBlocks = (waiting: readonly Waiting[]): { via: string; links: string }[] => {
  const blocks: { via: string; links: string }[] = [];
  for (const one of waiting) {
    const text = write(one);
    const last = blocks.at(-1);
    if (last && last.via === one.link.via && last.links.length + text.length <= BLOCK_CHARS_MAX) last.links += text;
    else blocks.push({ via: one.link.via, links: text });
  }
  return blocks;
};

/** Puts links at the end of the line. Changes `ends`; the caller writes them to the site's row. */
export const appendToLine = (book: Pick<Book, 'sql'>, ends: LineEnds, waiting: readonly Waiting[]): void => {
  for (const block of toBlocks(waiting)) {
    const id = insertBlock(book, null, block);
    if (ends.tail === null) [ends.head, ends.head_at] = [id, 0];
    else book.sql('UPDATE block SET next = ? WHERE id = ?').run(id, ends.tail);
    ends.tail = id;
  }
};

/** Puts links at the head of the line, keeping their own order. */
export const putFirst = (book: Pick<Book, 'sql'>, ends: LineEnds, waiting: readonly Waiting[]): void => {
  if (ends.head !== null && ends.head_at > 0) {
    // The head block is no longer the one that the site's row speaks of: it keeps its own place.
    book.sql('UPDATE block SET read_to = ? WHERE id = ?').run(ends.head_at, ends.head);
  }
  for (const block of toBlocks(waiting).reverse()) {
    const id = insertBlock(book, ends.head, block);
    ends.tail ??= id;
    [ends.head, ends.head_at] = [id, 0];
  }
};

/** Takes the link at the head. The line must not be empty. */
export const takeFirst = (book: Book, ends: LineEnds, site: string): Waiting => {
  const block = book.sql('SELECT next, via, links FROM block WHERE id = ?').get(ends.head) as
    { next: number | null; via: string; links: string } | undefined;
  if (!block) throw new Error(`the line of site "${site}" is broken: block ${ends.head} is missing`);
  const end = block.links.indexOf('\n', ends.head_at);
  const taken = readWaiting(block.links.slice(ends.head_at, end), block.via, site);
  if (end + 1 < block.links.length) {
    ends.head_at = end + 1;
    return taken;
  }
  book.sql('DELETE FROM block WHERE id = ?').run(ends.head);
  if (block.next === null) [ends.head, ends.head_at, ends.tail] = [null, 0, null];
  else {
    const next = book.sql('SELECT read_to FROM block WHERE id = ?').get(block.next) as { read_to: number };
    [ends.head, ends.head_at] = [block.next, next.read_to];
  }
  return taken;
};
