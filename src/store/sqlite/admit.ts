/** Takes in links that were never seen. */

import type { Admitted } from '../../contract/store.ts';
import type { Link } from '../../model/link.ts';
import type { Waiting } from '../../model/waiting.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { SITE_STATE } from '../site-state.ts';
import { putFirst, putLast, type QueueEnds } from './queue.ts';
import { noteDue, type Session } from './session.ts';

export interface SiteRow extends QueueEnds {
  readonly id: number;
  readonly shard: number;
  state: number;
  readonly waiting: number;
  readonly due_at: number;
}

/** A site with the links of this batch that are new to it. */
interface Arrivals {
  readonly site: SiteRow;
  readonly links: Waiting[];
}

export const admit = (session: Session, links: readonly Link[], siteWaitingMax: number | null): Admitted => {
  const bySite = new Map<string, Arrivals>();
  const full = new Set<string>();
  let admitted = 0;
  let forgotten = 0;
  for (const link of links) {
    const print = fingerprint(link.url);
    if (session.provisional.has(print) || session.seen.has(print)) continue;
    let arrivals = bySite.get(link.site);
    if (!arrivals)
      bySite.set(
        link.site,
        (arrivals = { site: findSite(session, link.site) ?? addSite(session, link.site), links: [] }),
      );
    if (siteWaitingMax !== null && !link.first && arrivals.site.waiting + arrivals.links.length >= siteWaitingMax) {
      full.add(link.site); // and its fingerprint is not kept: a later page can bring it again
      forgotten++;
      continue;
    }
    session.provisional.add(print);
    arrivals.links.push({ link, tries: 0 });
    admitted++;
  }
  for (const arrivals of bySite.values()) if (arrivals.links.length > 0) enqueue(session, arrivals);
  session.tally.forgotten += forgotten;
  if (admitted + forgotten > 0) session.tally.changes++;
  return { admitted, seen: links.length - admitted - forgotten, forgotten, full: [...full] };
};

const enqueue = (session: Session, { site, links }: Arrivals): void => {
  const { sql, tally } = session;
  const first = links.filter(({ link }) => link.first);
  putFirst(session, site, first);
  putLast(session, site, first.length === 0 ? links : links.filter(({ link }) => !link.first));
  if (site.state === SITE_STATE.idle) {
    sql(`UPDATE site SET state = ${SITE_STATE.waiting} WHERE id = ?`).run(site.id);
    site.state = SITE_STATE.waiting;
  }
  const { id, queue, head_at } = site;
  sql('UPDATE site SET waiting = waiting + ?, queue = ?, head_at = ? WHERE id = ?').run(
    links.length,
    queue,
    head_at,
    id,
  );
  if (site.state === SITE_STATE.parked) tally.parked += links.length;
  else if (site.state === SITE_STATE.held) tally.held += links.length;
  else tally.waiting += links.length;
  if (site.state === SITE_STATE.waiting) noteDue(session, site.shard, site.due_at);
};

type SiteColumns = readonly [number, number, number, number, number, string, number];

export const findSite = ({ sql }: Session, name: string): SiteRow | undefined => {
  const row = sql('SELECT id, shard, state, waiting, due_at, queue, head_at FROM site WHERE name = ?', 'arrays').get(
    name,
  ) as unknown as SiteColumns | undefined;
  if (!row) return undefined;
  const [id, shard, state, waiting, due_at, queue, head_at] = row;
  return { id, shard, state, waiting, due_at, queue, head_at };
};

const addSite = ({ sql, shards, clock, tally }: Session, name: string): SiteRow => {
  const shard = shardOf(name, shards);
  const due_at = clock.now(); // at once, but after those that have waited longer
  const { lastInsertRowid } = sql('INSERT INTO site (name, shard, due_at) VALUES (?, ?, ?)').run(name, shard, due_at);
  tally.sites++;
  return { id: Number(lastInsertRowid), shard, state: SITE_STATE.waiting, waiting: 0, due_at, queue: '', head_at: 0 };
};
