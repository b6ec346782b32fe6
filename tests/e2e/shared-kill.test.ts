/**
 * A crawl in a shared store when one of its two processes is killed, and when the server is: nothing lost, nothing
 * twice, nobody early.
 */

import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { LAPSED_AFTER_MS } from '../../src/model/pulse.ts';
import { urlOf, type Seen } from '../../src/world/seen.ts';
import { openRoad, overRoads } from '../support/crash-road.ts';
import { MEMBERS, membersOn, type MemberName, type Members } from '../support/shared-members.ts';
import { SHARED_STORES, type SharedServer, type SharedStoreName } from '../support/shared-servers.ts';
import { assertCode, assertNoFault, openStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

/** Long enough that a kill meets visits under way; a site rests ten times as long. */
const LATENCY_MS = 50;
const DELAY_MS = 550;
/** Seven times this and 30 s is how long a lease holds; a busy machine must not make requests fail. */
const TIMEOUT_MS = 2_000;
/** Most of the crawl is still to come then. */
const REQUESTS_BEFORE = 10;
/** More than a crawl of one page sends. */
const BEFORE_JOINING = 8;

/** Stages close together: closing one ends all processes. */
const closings: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closings) await close();
});

/** All members have one contact; the road of each writes its own name into it. */
const CONTACT = 'member@example.org';
const MARKS: Readonly<Record<MemberName, string>> = { first: 'first_@', second: 'second@' };

interface OnRoads extends Members {
  readonly roads: Readonly<Record<MemberName, readonly string[]>>;
}

const begin = async (server: SharedServer): Promise<OnRoads> => {
  const stage = await openStage(plainPlan(24, 300, 16));
  closings.push(stage.close);
  const roadsOf = async (member: MemberName): Promise<string[]> => {
    const roads = [
      await openRoad(stage.served.httpPort, LATENCY_MS, { from: 'member@', to: MARKS[member] }),
      await openRoad(stage.served.httpsPort, LATENCY_MS),
    ] as const;
    closings.push(...roads.map((road) => road.close));
    return overRoads(roads);
  };
  const roads = { first: await roadsOf('first'), second: await roadsOf('second') };
  const settings = {
    delay: `${DELAY_MS}ms`,
    timeout: `${TIMEOUT_MS}ms`,
    'park-after': 10,
  };
  return { ...(await membersOn(stage, { url: await server.place(), name: 'two', settings })), roads };
};

/** The small web sees by the address whose request it is. */
const startBy = (members: OnRoads, member: MemberName, maxPages?: number) =>
  members.start(member, {
    ...{ email: CONTACT, fetchers: 1, parsers: 1, 'connect-to': members.roads[member] },
    ...(member === 'first' ? { 'max-pages': maxPages ?? 'none' } : {}),
  });
const isBy = ({ userAgent }: Seen, member: MemberName): boolean => userAgent.includes(MARKS[member]);

const startBoth = async (members: OnRoads) => {
  const { requests } = members.stage.served.record;
  // Then the crawl is in the store and can be joined: both start together, however long that takes.
  assertCode(await startBy(members, 'first', 1).ended, 0);
  const first = startBy(members, 'first');
  // The limit belongs to the crawl: who joined before it is lifted would end at once.
  await until('the limit is lifted', () => requests.filter((seen) => isBy(seen, 'first')).length > BEFORE_JOINING);
  const second = startBy(members, 'second');
  await until('both processes send requests', () =>
    MEMBERS.every((member) => requests.filter((seen) => isBy(seen, member)).length >= REQUESTS_BEFORE),
  );
  return { first, second };
};

const assertWhole = async (members: Members): Promise<void> => {
  assert.equal(await members.verify(), '');
  const { violations, pages, archivedOnce } = await members.judge(DELAY_MS);
  assert.deepEqual(violations.slice(0, 10), []);
  assert.equal(archivedOnce, pages);
};

/**
 * Crawls of all tests here that are under way. Judging one keeps this process busy, and with it the small webs of the
 * others: their requests would come late, or fail.
 */
let crawls = 0;
const crawling = async <T>(story: () => Promise<T>): Promise<T> => {
  crawls++;
  try {
    return await story();
  } finally {
    crawls--;
  }
};
const othersAreOver = (): Promise<void> => until('the other crawls are over', () => crawls === 0);

suite('two processes on one crawl', { concurrency: true }, () => {
  for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
    test(`${store}: the sites of a killed process go on in the other when it is known to be dead`, async (t) => {
      const server = await SHARED_STORES[store]();
      closings.push(server.remove);
      const members = await begin(server);
      const { served, report } = {
        served: members.stage.served,
        report: () => members.stage.served.record.report({ delayMs: DELAY_MS }),
      };
      const killedAt = await crawling(async () => {
        const { first, second } = await startBoth(members);
        const isJustBy = (seen: Seen): boolean => isBy(seen, 'second') && seen.at > performance.now() - LATENCY_MS / 2;
        await until('a request of the second process is under way', () => served.record.requests.some(isJustBy));
        second.send('SIGKILL');
        const at = performance.now();
        assert.equal((await second.ended).signal, 'SIGKILL');
        const verified = await members.gossamer('verify', members.dirs.second);
        // The other works on: either it is noticed, or it stood still for the moment of the check. Damage there is
        // none.
        if (verified.code !== 0) assertCode(verified, 2);
        if (verified.code === 2)
          assert.match(verified.stderr, /another process works on this crawl: stop it, then check again/);
        assertCode(await first.ended, 0);
        assert.equal(await members.verify(), '', 'before the killed one goes on');
        assertCode(await startBy(members, 'second').ended, 0);
        return at;
      });
      await othersAreOver();

      // What it had asked so shortly before has not reached it: nobody can have settled it.
      const underWay = served.record.requests.filter(
        (seen) => isBy(seen, 'second') && seen.at > killedAt - LATENCY_MS && seen.at <= killedAt,
      );
      // on a busy machine it may come too late for any
      t.diagnostic(`the kill met ${underWay.length} visits under way`);
      for (const { site, at } of underWay) {
        const next = served.record.requests.find((seen) => seen.site === site && seen.at > killedAt + LATENCY_MS);
        assert.ok(next && isBy(next, 'first'), `${site} goes on in the other`);
        assert.ok(next.at - at > LAPSED_AFTER_MS, `${site} was left alone while it was leased, not ${next.at - at} ms`);
      }
      for (const url of report().twice) {
        const by = served.record.requests
          .filter((seen) => urlOf(seen) === url)
          .map((seen) => (isBy(seen, 'second') ? 'second' : 'first'));
        assert.deepEqual(by, ['second', 'first'], `${url} is fetched again by the other, and by nobody else`);
      }
      assertNoFault(report(), 'twice');
      await assertWhole(members);
    });

    test(`${store}: a killed server is waited for, and the crawl goes on with nothing lost or archived twice`, async () => {
      const server = await SHARED_STORES[store]();
      closings.push(server.remove);
      const members = await begin(server);
      await crawling(async () => {
        const { first, second } = await startBoth(members);
        await server.kill();
        await until('both say that they wait', () =>
          [first, second].every((run) => /does not answer \(.*\); waiting/.test(run.said())),
        );
        await server.restart();
        await until('both say that it is back', () =>
          [first, second].every((run) => /answers again|is back/.test(run.said())),
        );
        for (const run of [first, second]) assertCode(await run.ended, 0);
      });
      await othersAreOver();
      // Visits under way were broken off, and their pages are asked for again.
      assertNoFault(members.stage.served.record.report({ delayMs: DELAY_MS }), 'twice');
      await assertWhole(members);
    });
  }
});
