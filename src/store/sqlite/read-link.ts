/** Where is a link: settled, under visit, or how far back in the queue of its site? */

import { linkView } from '../../contract/link-view.ts';
import type { LinkView, OpenLink } from '../../contract/views.ts';
import { numbersOf } from '../../lib/long-queue.ts';
import { readWaitingLines } from '../waiting-text.ts';
import { packsOf, READ_IN_BLOCK, readBlock } from './queue.ts';
import { pageOf } from './read-pages.ts';
import { siteNamed, viewOf } from './read-sites.ts';
import type { Connection } from './schema.ts';
import type { StoredSite } from './site-row.ts';

/** About 10 M links and some seconds. A queue can be longer only without --max-waiting-per-site. */
const BLOCKS_MAX = 200_000;

export const linkOf = (connection: Connection, url: string, name: string): LinkView => {
  const site = siteNamed(connection, name);
  if (!site) return linkView(url, { site, page: null, leased: null, found: null, lookedAt: 0 });
  const page = pageOf(connection, site.id, url);
  const leased = site.found.leased === 'unreadable' ? null : site.found.leased;
  const isOpen = page === null && leased?.link.url !== url;
  const looked = isOpen ? findInQueue(connection, site, url) : { found: null, lookedAt: 0 };
  return linkView(url, { site: viewOf(connection, site), page, leased, ...looked });
};

interface Looked {
  readonly found: OpenLink | null;
  readonly lookedAt: number;
}

/** Walks the blocks from the head; a queue of 100,000 links is some 2,000 of them. */
const findInQueue = (connection: Connection, site: StoredSite, url: string): Looked => {
  let lookedAt = 0;
  let blocks = 0;
  for (const id of numbersOf(site.queue, packsOf(connection))) {
    const block = readBlock(connection, id);
    if (!block || blocks++ >= BLOCKS_MAX) break;
    const [readTo, via, text] = block;
    const lines = text.slice(blocks === 1 && site.head_at !== READ_IN_BLOCK ? site.head_at : readTo);
    // Reading a link costs more than passing over it: only a block that has the text is looked into.
    const links = lines.includes(url) ? (readWaitingLines(lines, via, site.found.site) ?? []) : [];
    const at = links.findIndex(({ link }) => link.url === url);
    if (at >= 0) return { found: { ...links[at]!, ahead: lookedAt + at }, lookedAt: lookedAt + at + 1 };
    lookedAt += linesIn(lines);
  }
  return { found: null, lookedAt };
};

const linesIn = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};
