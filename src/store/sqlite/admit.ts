/** Takes in links that were never seen. */

import type { Admitted } from '../../frontier/store.ts';
import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import type { Book } from './book.ts';
import type { Waiting } from '../link-text.ts';
import { appendToLine, putFirst, type LineEnds } from './line.ts';
import { SITE_HELD, SITE_IDLE, SITE_PARKED, SITE_WAITING } from './schema.ts';

interface SiteRow extends LineEnds {
  id: number;
  shard: number;
  state: number;
  waiting: number;
  due_at: number;
}

/** A site with the links of this batch that are new to it. */
interface Arrivals {
  readonly site: SiteRow;
  readonly links: Waiting[];
}

export const admit = (book: Book, links: readonly Link[], siteWaitingMax: number | null): Admitted => {
  const bySite = new Map<string, Arrivals>();
  const full = new Set<string>();
  let admitted = 0;
  let forgotten = 0;
  for (const link of links) {
    const print = fingerprint(link.url);
    if (book.provisional.has(print) || book.seen.has(print)) continue;
    let arrivals = bySite.get(link.site);
    if (!arrivals)
      bySite.set(link.site, (arrivals = { site: findSite(book, link.site) ?? addSite(book, link.site), links: [] }));
    if (siteWaitingMax !== null && !link.first && arrivals.site.waiting + arrivals.links.length >= siteWaitingMax) {
      full.add(link.site); // and its fingerprint is not kept: a later page can bring it again
      forgotten++;
      continue;
    }
    book.provisional.add(print);
    arrivals.links.push({ link, tries: 0 });
    admitted++;
  }
  for (const arrivals of bySite.values()) if (arrivals.links.length > 0) lineUp(book, arrivals);
  book.tally.forgotten += forgotten;
  if (admitted + forgotten > 0) book.tally.changes++;
  return { admitted, seen: links.length - admitted - forgotten, forgotten, full: [...full] };
};

const lineUp = (book: Book, { site, links }: Arrivals): void => {
  putFirst(
    book,
    site,
    links.filter((one) => one.link.first),
  );
  appendToLine(
    book,
    site,
    links.filter((one) => !one.link.first),
  );
  if (site.state === SITE_IDLE) {
    book.sql(`UPDATE site SET state = ${SITE_WAITING} WHERE id = ?`).run(site.id);
    site.state = SITE_WAITING;
  }
  book
    .sql('UPDATE site SET waiting = waiting + ?, line = ?, head_at = ? WHERE id = ?')
    .run(links.length, site.line, site.head_at, site.id);
  if (site.state === SITE_PARKED) book.tally.parked += links.length;
  else if (site.state === SITE_HELD) book.tally.held += links.length;
  else book.tally.waiting += links.length;
  if (site.state === SITE_WAITING) book.notBefore[site.shard] = Math.min(book.notBefore[site.shard]!, site.due_at);
};

const findSite = (book: Book, name: string): SiteRow | undefined => {
  const row = book
    .sql('SELECT id, shard, state, waiting, due_at, line, head_at FROM site WHERE name = ?', 'arrays')
    .get(name) as unknown as readonly [number, number, number, number, number, string, number] | undefined;
  return (
    row && { id: row[0], shard: row[1], state: row[2], waiting: row[3], due_at: row[4], line: row[5], head_at: row[6] }
  );
};

const addSite = (book: Book, name: string): SiteRow => {
  const shard = shardOf(name, book.shards);
  const dueAt = book.clock.now(); // at once, but behind those that have waited longer
  const { lastInsertRowid } = book
    .sql('INSERT INTO site (name, shard, due_at) VALUES (?, ?, ?)')
    .run(name, shard, dueAt);
  book.tally.sites++;
  return { id: Number(lastInsertRowid), shard, state: SITE_WAITING, waiting: 0, due_at: dueAt, line: '', head_at: 0 };
};
