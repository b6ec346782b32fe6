/** Where in the line of its site is a link? */

import type { OpenLink } from '../../frontier/store.ts';
import type { Book } from './book.ts';
import { readWaiting } from './line.ts';

/**
 * About 10 M links and some seconds. A line can be longer only without --max-waiting-per-site, or when it is
 * broken and leads back into itself.
 */
const BLOCKS_MAX = 200_000;

interface Block {
  readonly next: number | null;
  readonly read_to: number;
  readonly via: string;
  readonly links: string;
}

/** Walks the blocks from the head; one of 100,000 links is some 2,000 of them. */
export const findInLine = (sql: Book['sql'], url: string, site: string): { found: OpenLink | null; lookedAt: number } => {
  const ends = sql('SELECT head, head_at FROM site WHERE name = ?').get(site) as { head: number | null; head_at: number } | undefined;
  let lookedAt = 0;
  let id = ends?.head ?? null;
  for (let blocks = 0; id !== null && blocks < BLOCKS_MAX; blocks += 1) {
    const block = sql('SELECT next, read_to, via, links FROM block WHERE id = ?').get(id) as Block | undefined;
    if (!block) break; // taken since the last look
    const links = block.links.slice(blocks === 0 ? ends!.head_at : block.read_to);
    const before = links.indexOf(` ${url}\n`);
    if (before < 0) lookedAt += linesIn(links);
    else {
      const lineAt = links.lastIndexOf('\n', before) + 1;
      const ahead = lookedAt + linesIn(links.slice(0, lineAt));
      return { found: { ...readWaiting(links.slice(lineAt, links.indexOf('\n', before)), block.via, site), ahead }, lookedAt: ahead + 1 };
    }
    id = block.next;
  }
  return { found: null, lookedAt };
};

const linesIn = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};
