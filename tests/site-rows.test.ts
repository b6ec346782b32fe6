/** Sites of a store that is open, as `gossamer sites` lists them; what a store answers is in tests/contract. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_AT_ONCE, siteRows } from '../src/cli/site-rows.ts';
import { writeIdentity } from '../src/folder/folder.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import { ask, claimBySite, claimOne, linksOf, paceAfter, settlementOf } from './contract/store-scene.ts';
import { runBinary } from './support/binary.ts';
import { HOUR_MS, onReadingScene, robotsRead, type ReadingScene } from './support/reading-scene.ts';

/** Five sites that differ in everything a list can be sorted by. */
const fill = async ({ store, clock }: ReadingScene): Promise<void> => {
  await store.admit([
    ...linksOf('busy.example', 2),
    ...linksOf('idle.example', 1),
    ...linksOf('many.example', 6),
    ...linksOf('slow.example', 3),
    ...linksOf('ill.example', 2),
  ]);
  const visits = await claimBySite(store);
  const settle = async (site: string, changes: Parameters<typeof settlementOf>[1]): Promise<void> =>
    void (await store.settle([settlementOf(visits.get(site)!, changes)]));
  await settle('idle.example', {});
  await settle('many.example', {
    pace: paceAfter(visits.get('many.example')!, { dueAt: clock.now() + 1_000, delayMs: 1_000 }),
  });
  await settle('slow.example', {
    pace: paceAfter(visits.get('slow.example')!, { dueAt: clock.now() + 60_000, delayMs: 60_000 }),
  });
  await settle('ill.example', {
    fate: 'retry',
    parked: true,
    pace: paceAfter(visits.get('ill.example')!, { failures: 6, delayMs: 0 }),
  });
};

test('the table says what each site is doing, when it is visited next, and how old its rules are', () =>
  onReadingScene(async (scene) => {
    await fill(scene);
    const { store, clock, dir } = scene;
    writeIdentity(dir, completeSettings({ email: 'test@example.org' }, 2));
    clock.advance(1_000);
    const visit = await claimOne(store); // of many.example
    const tomorrow = Date.now() + 24 * HOUR_MS;
    await store.settle([
      settlementOf(visit, {
        pace: paceAfter(visit, { dueAt: tomorrow }),
        robots: robotsRead('https://many.example', 'User-agent: *\nDisallow: /', clock.now()),
      }),
    ]);
    const ran = await runBinary(['sites', dir]);
    assert.equal(ran.code, 0, ran.stderr);
    const rows = ran.stdout.split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(
      rows.slice(1, 6).map((cells) => cells.slice(0, 7)),
      [
        ['many.example', 'waiting', '4', '2', '0', '5s', rows[1]?.[6]],
        ['slow.example', 'waiting', '2', '1', '0', '1m', 'due now'],
        ['ill.example', 'parked', '2', '0', '6', '-', '-'],
        ['busy.example', 'leased', '1', '0', '0', '5s', 'under way'],
        ['idle.example', 'idle', '0', '1', '0', '5s', '-'],
      ],
    );
    assert.match(rows[1]?.[6] ?? '', /^in (?:1d|23h \d+m|24h)$/);
    assert.match(
      rows[1]?.[7] ?? '',
      /^forbids all, stale, \d+d(?: \d+h)? old$/,
      'the clock of this crawl began long ago',
    );
    assert.equal(rows[2]?.[7], 'not read yet');
  }));

test('a list asks for the rules of many sites at once, and each site gets its own', () =>
  onReadingScene(async ({ store, crawl, clock }) => {
    const names = Array.from({ length: 2 * RULES_AT_ONCE + 30 }, (_, n) => `s${n}.example`);
    await store.admit(names.flatMap((name) => linksOf(name, 2)));
    const { visits } = await store.claim(ask({ visits: names.length }));
    const forbids = (site: string): boolean => Number(site.slice(1).split('.')[0]) % 3 === 0;
    await store.settle(
      visits
        .filter(({ site }) => site !== 's7.example')
        .map((visit) =>
          settlementOf(visit, {
            robots: robotsRead(
              `https://${visit.site}`,
              `User-agent: *\nDisallow: ${forbids(visit.site) ? '/' : ''}`,
              clock.now(),
            ),
          }),
        ),
    );
    const asked: number[] = [];
    const far = {
      ...crawl,
      robots: (origins: readonly string[]) => (asked.push(origins.length), crawl.robots(origins)),
    };
    const rows: [string, string | undefined][] = [];
    for await (const { view, robots } of siteRows(far, {})) rows.push([view.site, robots?.state]);
    assert.deepEqual(
      rows,
      names.map((name) => [
        name,
        name === 's7.example' ? 'not-read-yet' : forbids(name) ? 'forbids-all' : 'allows-all',
      ]),
    );
    assert.deepEqual(asked, [RULES_AT_ONCE, RULES_AT_ONCE, 30]);
  }));
