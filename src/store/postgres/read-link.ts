/** What the crawl knows of one link, at one moment. */

import { linkView } from '../../contract/link-view.ts';
import type { LinkView, OpenLink } from '../../contract/views.ts';
import type { Waiting } from '../../model/waiting.ts';
import { readWaiting } from '../waiting-text.ts';
import { atOneMoment, type Connection, type Rows } from './connection.ts';
import { toPage } from './pages.ts';
import { readPages } from './read-pages.ts';
import { sitesById, toView } from './read-sites.ts';
import { keyOf } from './schema.ts';
import { sqlFile } from './sql.ts';
import { textOf } from './values.ts';

interface QueueRow {
  /** Null when the link is not there. */
  readonly text: string | null;
  readonly via: string;
  readonly ahead: number;
  readonly lookedAt: number;
}

export const linkOf = (connection: Connection, url: string, site: string): Promise<LinkView> =>
  atOneMoment(connection, async (rows) => {
    const [row] = await sitesById(rows, [keyOf(site)]);
    if (!row) return linkView(url, { site: null, page: null, leased: null, found: null, lookedAt: 0 });
    const leased = waitingOf(row.text, row.via, site);
    const [page] = await readPages(rows, { site, url, limit: 1 });
    const queue = page || leased?.link.url === url ? { found: null, lookedAt: 0 } : await findInQueue(rows, url, site);
    return linkView(url, { site: toView(row), page: page ? toPage(page) : null, leased, ...queue });
  });

const findInQueue = async (
  rows: Rows,
  url: string,
  site: string,
): Promise<{ found: OpenLink | null; lookedAt: number }> => {
  const [row] = await rows<QueueRow>(sqlFile('find-in-queue'), [keyOf(site), textOf(url)]);
  const { text, via, ahead, lookedAt } = row!;
  const waiting = waitingOf(text, via, site);
  return { found: waiting && { ...waiting, ahead }, lookedAt };
};

const waitingOf = (text: string | null, via: string | null, site: string): Waiting | null =>
  text === null ? null : readWaiting(text, via ?? '', site);
