/** Where in the line of its site is a link? */

import type { OpenLink } from '../../frontier/store.ts';
import { numbersOf } from '../../lib/long-queue.ts';
import type { Book } from './book.ts';
import { readWaiting } from '../link-text.ts';
import { READ_IN_BLOCK } from './line.ts';

/**
 * About 10 M links and some seconds. A line can be longer only without --max-waiting-per-site.
 */
const BLOCKS_MAX = 200_000;

interface Block {
  readonly read_to: number;
  readonly via: string;
  readonly links: string;
}

/** Walks the blocks from the head; one of 100,000 links is some 2,000 of them. */
export const findInLine = (
  sql: Book['sql'],
  url: string,
  site: string,
): { found: OpenLink | null; lookedAt: number } => {
  const ends = sql('SELECT line, head_at FROM site WHERE name = ?').get(site) as
    | { line: string; head_at: number }
    | undefined;
  let lookedAt = 0;
  let blocks = 0;
  for (const id of numbersOf(ends?.line ?? '', { get: (pack) => packOrNone(sql, pack) })) {
    const block = sql('SELECT read_to, via, links FROM block WHERE id = ?').get(id) as Block | undefined;
    if (!block || blocks++ >= BLOCKS_MAX) break; // taken since the last look
    const links = block.links.slice(blocks === 1 && ends!.head_at !== READ_IN_BLOCK ? ends!.head_at : block.read_to);
    const before = links.indexOf(` ${url}\n`);
    if (before < 0) lookedAt += linesIn(links);
    else {
      const lineAt = links.lastIndexOf('\n', before) + 1;
      const ahead = lookedAt + linesIn(links.slice(0, lineAt));
      return {
        found: { ...readWaiting(links.slice(lineAt, links.indexOf('\n', before)), block.via, site), ahead },
        lookedAt: ahead + 1,
      };
    }
  }
  return { found: null, lookedAt };
};

/** A pack that is gone was taken since the last look. */
const packOrNone = (sql: Book['sql'], pack: number): readonly number[] => {
  const row = sql('SELECT blocks FROM pack WHERE id = ?').get(pack) as { blocks: string } | undefined;
  return row ? row.blocks.split(' ').map(Number) : [];
};

const linesIn = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};
