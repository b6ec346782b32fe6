/** A crawl in a real Redis or PostgreSQL that outlives the simulated processes, and what it holds at the end. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadRecords } from '../../src/contract/walk.ts';
import type { Census } from '../../src/model/census.ts';
import type { Link } from '../../src/model/link.ts';
import type { PageRow } from '../../src/model/page.ts';
import type { FrontierPlace } from '../../src/model/settings.ts';
import { openStore, openStoredCrawl } from '../../src/store/open.ts';
import type { LookOptions, OpenedStore } from '../../src/store/options.ts';
import { createFaultyArchive, type FaultyArchive } from './faulty.ts';
import { holdingOf, type Durable, type Holding } from './holding.ts';
import { SHARED_SHARDS, type SharedServer } from './shared-place.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface Member {
  readonly archive: FaultyArchive;
  readonly place: LookOptions;
  /** The list of its records that belong to no page, which readers skip. */
  readonly dead: DeadRecords[];
}

/**
 * Every process works as the member that it is named; a member has an archive and rows of its own, and one process at a
 * time. With the waiting links in files there can be one member only.
 */
export const sharedDurable = (
  clock: VirtualClock,
  server: SharedServer,
  { frontier, linksOn }: { frontier: FrontierPlace; linksOn: (page: PageRow) => Link[] },
): Durable => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-sim-'));
  const crawl = server.crawlName();
  const members = new Map<string, Member>();
  const newMember = (member: string): Member => {
    const dir = join(home, member);
    mkdirSync(dir);
    const place = { url: server.url, crawl, member, shards: SHARED_SHARDS, dir, frontier, say: () => {} };
    return { archive: createFaultyArchive(`archive-${member}`), place, dead: [] };
  };
  const memberOf = (name: string): Member => {
    const member = members.get(name) ?? newMember(name);
    members.set(name, member);
    return member;
  };
  /** As a start does: links of this member's pages may be forgotten where it was not there to send them again. */
  const readAgain = async (store: OpenedStore, { place }: Member): Promise<void> => {
    const since = store.forgotSince ?? null;
    if (since === null) return;
    const crawl = await openStoredCrawl(place);
    for (let row = 0, end = Infinity; row < end; ) {
      const slice = await crawl.pagesAfter(row, {});
      for (const page of slice.pages) if (page.time >= since) await store.admit(linksOn(page));
      ({ row, end } = slice);
    }
    await crawl.close();
    store.rereadDone?.();
  };
  const open = async (name: string): Promise<OpenedStore> => {
    const { archive, place, dead } = memberOf(name);
    archive.state = 'well';
    const store = await openStore({
      ...place,
      clock: () => clock,
      archive: (settled) => (archive.cut(settled), archive),
      dead: (records) => void dead.push(...records),
    });
    await readAgain(store, memberOf(name));
    return store;
  };
  return {
    open,
    archive: (name) => memberOf(name).archive,
    // A record whose settlement was refused stays where others lie after it already: promise 2 has it listed, not
    // removed.
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
    holding: async () => {
      const all: Holding[] = [];
      for (const { place } of members.values()) all.push(await holdingOf(await openStoredCrawl(place), SHARED_SHARDS));
      // In Redis the rows of a page lie with the member that settled it; all else is the same for all.
      const { settled, unsettled } = all[0]!;
      return {
        settled: server.kind === 'redis' ? all.flatMap((one) => one.settled) : settled,
        unsettled,
        wrong: all.flatMap(({ wrong }) => wrong),
      };
    },
    save: (dice) => server.save(crawl, dice),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
};
