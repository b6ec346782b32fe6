/** A crawl in a real Redis or PostgreSQL that outlives the simulated processes, and what it holds at the end. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadRecords } from '../../src/contract/walk.ts';
import type { Census } from '../../src/model/census.ts';
import type { FrontierPlace } from '../../src/model/settings.ts';
import { openStore, openStoredCrawl } from '../../src/store/open.ts';
import type { LookOptions } from '../../src/store/options.ts';
import { createFaultyArchive, type FaultyArchive } from './faulty.ts';
import { holdingOf, type Durable, type Holding } from './holding.ts';
import type { SharedServer } from './shared-place.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Few, so that a verb concerns most of them and costs little; a crawl has 64. */
export const SHARED_SHARDS = 4;

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
export const sharedDurable = (clock: VirtualClock, server: SharedServer, frontier: FrontierPlace): Durable => {
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
  const open = (name: string): ReturnType<typeof openStore> => {
    const { archive, place, dead } = memberOf(name);
    archive.state = 'well';
    return openStore({
      ...place,
      clock: () => clock,
      archive: (settled) => (archive.cut(settled), archive),
      dead: (records) => void dead.push(...records),
    });
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
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
};
