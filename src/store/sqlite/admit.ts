/** Takes in links that were never seen. */

import type { Admitted } from '../../frontier/store.ts';
import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import type { Book } from './book.ts';
import { appendToLine, putFirst, type LineEnds, type Waiting } from './line.ts';
import { SITE_HELD, SITE_PARKED, SITE_REST } from './schema.ts';

interface SiteRow extends LineEnds {
  id: number;
  shard: number;
  state: number;
  waiting: number;
  due_at: number;
}

export const admit = (book: Book, links: readonly Link[]): Admitted => {
  const bySite = new Map<string, Waiting[]>();
  let admitted = 0;
  for (const link of links) {
    const print = fingerprint(link.url);
    if (book.provisional.has(print) || book.seen.has(print)) continue;
    book.provisional.add(print);
    admitted++;
    const waiting = bySite.get(link.site);
    if (waiting) waiting.push({ link, tries: 0 });
    else bySite.set(link.site, [{ link, tries: 0 }]);
  }
  for (const [site, waiting] of bySite) lineUp(book, site, waiting);
  if (admitted > 0) book.tally.changes++;
  return { admitted, seen: links.length - admitted };
};

const lineUp = (book: Book, name: string, waiting: readonly Waiting[]): void => {
  const site = findSite(book, name) ?? addSite(book, name);
  putFirst(book, site, waiting.filter((one) => one.link.first));
  appendToLine(book, site, waiting.filter((one) => !one.link.first));
  book.sql('UPDATE site SET waiting = waiting + ?, head = ?, head_at = ?, tail = ? WHERE id = ?')
    .run(waiting.length, site.head, site.head_at, site.tail, site.id);
  if (site.state === SITE_PARKED) book.tally.parked += waiting.length;
  else if (site.state === SITE_HELD) book.tally.held += waiting.length;
  else book.tally.waiting += waiting.length;
  if (site.state === SITE_REST) book.notBefore[site.shard] = Math.min(book.notBefore[site.shard]!, site.due_at);
};

const findSite = (book: Book, name: string): SiteRow | undefined =>
  book.sql('SELECT id, shard, state, waiting, due_at, head, head_at, tail FROM site WHERE name = ?').get(name) as SiteRow | undefined;

const addSite = (book: Book, name: string): SiteRow => {
  const shard = shardOf(name);
  const dueAt = book.clock.now(); // at once, but behind those that have waited longer
  const { lastInsertRowid } = book.sql('INSERT INTO site (name, shard, due_at) VALUES (?, ?, ?)').run(name, shard, dueAt);
  book.tally.sites++;
  return { id: Number(lastInsertRowid), shard, state: SITE_REST, waiting: 0, due_at: dueAt, head: null, head_at: 0, tail: null };
};
