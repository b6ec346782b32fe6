/** Lays broken queues anew, and brings links of blocks that are in no queue back into one. */

import type { Repaired, RepairPlan } from '../../contract/stored-crawl.ts';
import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import type { Waiting } from '../../model/waiting.ts';
import { canonicalize } from '../../url/canonical.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { siteOf } from '../../url/site.ts';
import { readWaiting } from '../waiting-text.ts';
import { createNumberSet, type NumberSet } from './number-set.ts';
import { putLast, readBlock, type QueueEnds } from './queue.ts';
import { linksFrom, walkQueue, type Met } from './queue-walk.ts';
import type { Connection } from './schema.ts';
import { printsAfter } from './seen-log.ts';
import { metIn, strayIn } from './self.ts';
import { foundIn } from './walk.ts';

export interface SiteQueue extends QueueEnds {
  readonly id: number;
  readonly site: string;
}

const SITE_SQL = 'SELECT id, name AS site, queue, head_at FROM site';

/** Gives the fingerprints of all links that are in some state then; those of pages that go back are not among them. */
export const repairQueues = (connection: Connection, plan: RepairPlan, did: Repaired): FingerprintTable => {
  const { db, sql } = connection;
  // What goes is deleted last: until then no new row can get its number.
  const last = sql('SELECT (SELECT max(id) FROM block) AS block, (SELECT max(id) FROM pack) AS pack').get() as Record<
    'block' | 'pack',
    number | null
  >;
  const known = createFingerprintTable(printsAfter(db, 0));
  meetSound(connection, plan, known);
  const sound = metIn(connection, plan.queues);
  const laid = createNumberSet();
  for (const name of plan.queues) {
    const site = sql(`${SITE_SQL} WHERE name = ?`).get(name) as unknown as SiteQueue | undefined;
    if (!site) continue;
    layAnew(connection, site, { known, sound, laid });
    did.queuesMended++;
  }
  const old = (table: 'block' | 'pack'): number[] =>
    [...strayIn(connection, table, sound)].filter((id) => id <= last[table]!);
  const blocks = old('block');
  for (const id of blocks) if (!laid.has(id)) did.linksAdopted += adopt(connection, id, known);
  for (const id of blocks) sql('DELETE FROM block WHERE id = ?').run(id);
  for (const id of old('pack')) sql('DELETE FROM pack WHERE id = ?').run(id);
  return known;
};

/** Every link that is settled, under visit, or in a queue that needs no repair. */
const meetSound = (connection: Connection, { queues, pagesBack }: RepairPlan, known: FingerprintTable): void => {
  const meet = (url: string): boolean => known.add(fingerprint(url));
  for (const found of foundIn(connection, '', ['pages', 'sites'])) {
    if (found.kind === 'pages') {
      for (const { row, url } of found.pages) if (!pagesBack.has(row)) meet(url);
    } else if (found.kind === 'site' && found.leased && found.leased !== 'unreadable') meet(found.leased.link.url);
    else if (found.kind === 'queue' && !queues.has(found.site)) for (const { link } of found.links) meet(link.url);
  }
};

interface Laying {
  readonly known: FingerprintTable;
  readonly sound: Met;
  /** Blocks whose links are in new ones. */
  readonly laid: NumberSet;
}

/** All links of the queue up to its break that are in no other state, each once, in new blocks. */
const layAnew = (connection: Connection, site: SiteQueue, { known, sound, laid }: Laying): void => {
  const ends = { queue: '', head_at: 0 };
  const isNew = (id: number): boolean => !sound.blocks.has(id) && !laid.has(id);
  const met: Met = { packs: createNumberSet(), blocks: { has: (id) => !isNew(id), add: isNew } };
  for (const block of walkQueue(connection, site, met)) {
    if (typeof block === 'string') continue;
    laid.add(block.id);
    putLast(connection, ends, newTo(known, block.links));
  }
  writeEnds(connection, site.id, ends);
};

const newTo = (known: FingerprintTable, links: readonly Waiting[]): Waiting[] =>
  links.filter(({ link }) => known.add(fingerprint(link.url)));

/** Brings the links of a stray block that are in no state to the ends of their queues; gives how many. */
const adopt = (connection: Connection, id: number, known: FingerprintTable): number => {
  const [readTo, via, text] = readBlock(connection, id)!;
  // A block that is damaged gives the links that are still whole.
  const links =
    linksFrom(text, readTo, { via, site: '' }) ?? text.split('\n').flatMap((line) => readWaiting(line, via, '') ?? []);
  let adopted = 0;
  for (const waiting of links) {
    const site = siteFor(connection, waiting.link.url);
    if (!site || newTo(known, [waiting]).length === 0) continue;
    putLast(connection, site, [waiting]);
    writeEnds(connection, site.id, site);
    adopted++;
  }
  return adopted;
};

/** The site that a URL belongs to, if the store has it. */
export const siteFor = ({ sql }: Connection, url: string): SiteQueue | null => {
  const address = canonicalize(url);
  if (typeof address === 'string' || address.url !== url) return null;
  return (sql(`${SITE_SQL} WHERE name = ?`).get(siteOf(address.host)) as unknown as SiteQueue | undefined) ?? null;
};

export const writeEnds = ({ sql }: Connection, id: number, { queue, head_at }: QueueEnds): void =>
  void sql('UPDATE site SET queue = ?, head_at = ? WHERE id = ?').run(queue, head_at, id);
