/** A crawl in a real Redis or PostgreSQL that outlives the simulated processes, and what it holds at the end. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSharedCrawl, openSharedStore, type SharedPlace } from '../../src/store/shared.ts';
import type { DeadRecords } from '../../src/store/shared-crawl.ts';
import type { Census } from '../../src/model/census.ts';
import type { FrontierPlace } from '../../src/model/settings.ts';
import type { PlacedPage } from '../../src/model/settlement.ts';
import { openLook as openPostgresLook } from '../../src/store/postgres/look.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED } from '../../src/store/postgres/schema.ts';
import { openLook as openRedisLook } from '../../src/store/redis/look.ts';
import { openLineReader } from '../../src/store/redis/read-lines.ts';
import { openRows } from '../../src/store/redis/rows.ts';
import { walkShard } from '../../src/store/redis/walk.ts';
import { createFaultyArchive, type FaultyArchive } from './faulty.ts';
import type { Durable, Holding } from './holding.ts';
import type { SharedServer } from './shared-place.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Few, so that a call concerns most of them and costs little; a crawl has 64. */
export const SHARED_SHARDS = 4;

interface Member {
  readonly archive: FaultyArchive;
  readonly rowsPath: string;
  /** Its list of records that belong to no page, which readers skip. */
  readonly dead: DeadRecords[];
}

/**
 * Every process works as the member that it is named; a member has an archive and rows of its own, and one process at a
 * time. With the waiting links in files there can be one member only.
 */
export const sharedDurable = (clock: VirtualClock, server: SharedServer, frontier: FrontierPlace): Durable => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-sim-'));
  const place: SharedPlace = { url: server.url, crawl: server.crawlName(), shards: SHARED_SHARDS, say: () => {} };
  const members = new Map<string, Member>();
  const memberOf = (name: string): Member => {
    let member = members.get(name);
    if (!member)
      members.set(
        name,
        (member = { archive: createFaultyArchive(`archive-${name}`), rowsPath: join(dir, `${name}.db`), dead: [] }),
      );
    return member;
  };
  const open: Durable['open'] = (name) => {
    const { archive, rowsPath, dead } = memberOf(name);
    archive.state = 'well';
    return openSharedStore({
      ...place,
      member: name,
      rowsPath,
      clock,
      frontier,
      archive: (settled) => (archive.cut(settled), archive),
      dead: (records) => void dead.push(...records),
    });
  };
  return {
    open,
    archive: (name) => memberOf(name).archive,
    // A record whose settlement was refused stays where others lie behind it already: promise 2 has it listed, not
    // away.
    records: () => [...members.values()].flatMap(({ archive, dead }) => archive.records(dead)),
    recordAt: (at) =>
      [...members.values()].map(({ archive }) => archive.recordAt(at)).find((text) => text !== '') ?? '',
    rest: async () => {
      let census: Census | undefined;
      for (const name of members.keys()) {
        const store = await open(name);
        census = await store.census();
        await store.close();
      }
      return census!;
    },
    holding: async () => ({
      ...(await HOLDING[server.kind](place, [...members.values()])),
      wrong: await surveyed(place, members),
    }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
};

/** As `gossamer verify` looks at it. */
const surveyed = async (place: SharedPlace, members: ReadonlyMap<string, Member>): Promise<string[]> => {
  const crawl = await openSharedCrawl(place);
  try {
    const wrong: string[] = [];
    for (const [member, { rowsPath }] of members)
      wrong.push(...(await crawl.survey({ member, rowsPath }, () => {})).wrong);
    return wrong;
  } finally {
    await crawl.close();
  }
};

type Held = Pick<Holding, 'settled' | 'unsettled'>;
type Unsettled = Holding['unsettled'] extends Iterable<infer One> ? One : never;

const inRedis = async (place: SharedPlace, members: readonly Member[]): Promise<Held> => {
  const settled = members.flatMap(({ rowsPath }): PlacedPage[] => {
    const rows = openRows(rowsPath);
    try {
      return rows.pages();
    } finally {
      rows.close();
    }
  });
  const look = await openRedisLook(place);
  const lines = openLineReader(members[0]!.rowsPath);
  const unsettled: Unsettled[] = [];
  for (let shard = 0; shard < place.shards; shard++) {
    for await (const step of walkShard(look, shard)) {
      const { site, state, lease, headAt } = step.row;
      if (step.kind === 'site' && lease !== '')
        unsettled.push({ url: lines.leased(lease, site)!.link.url, state: 'leased' });
      if (step.kind !== 'blocks') continue;
      const waits = state === 'p' ? 'parked' : state === 'h' ? 'held' : 'waiting';
      for (const [i, text] of step.blocks.entries()) {
        for (const { link } of lines.links({ site, text, headAt: step.from + i === 0 ? headAt : 0 }) ?? [])
          unsettled.push({ url: link.url, state: waits });
      }
    }
  }
  lines.close();
  look.wire.close();
  return { settled, unsettled };
};

interface LineRow {
  readonly state: number;
  readonly leased: string | null;
  /** Null for a site without waiting links. */
  readonly links: readonly string[] | null;
}

const inPostgres = async (place: SharedPlace): Promise<Held> => {
  const crawl = await openSharedCrawl(place);
  const settled: PlacedPage[] = [];
  for await (const page of crawl.reader('').pages({})) settled.push(page);
  await crawl.close();
  const look = await openPostgresLook(place);
  const s = look.schema;
  const rows = await look.rows<LineRow>(`
    SELECT k.state, k.leased, NULL AS links FROM ${s}.site k WHERE k.state = ${SITE_LEASED} UNION ALL
    SELECT k.state, NULL, b.links[CASE WHEN b.position = k.head THEN k.head_at ELSE b.read_to END + 1:] FROM ${s}.site k JOIN ${s}.block b ON b.site = k.id AND b.position BETWEEN k.head AND k.tail`);
  await look.server.close();
  const unsettled = rows.flatMap(({ state, leased, links }): Unsettled[] => {
    if (leased !== null) return [{ url: leased.split(' ')[3]!, state: 'leased' }];
    const waits = state === SITE_PARKED ? 'parked' : state === SITE_HELD ? 'held' : 'waiting';
    return (links ?? []).map((line) => ({ url: line.split(' ')[4]!, state: waits }));
  });
  return { settled, unsettled };
};

const HOLDING: Readonly<
  Record<SharedServer['kind'], (place: SharedPlace, members: readonly Member[]) => Promise<Held>>
> = { redis: inRedis, postgres: inPostgres };
