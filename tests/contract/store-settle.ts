/** How a store ends leases. */

import assert from 'node:assert/strict';

import { StoreFault } from '../../src/contract/fault.ts';
import type { CanonicalUrl } from '../../src/model/link.ts';
import { isArchived, NO_PLACE } from '../../src/model/page.ts';
import type { RobotsRecord } from '../../src/model/robots.ts';
import type { Visit } from '../../src/model/visit.ts';
import type { Span } from '../support/memory-archive.ts';
import {
  ask,
  claimBySite,
  claimNothing,
  claimOne,
  DELAY_MS,
  link,
  linksOf,
  pageOf,
  paceAfter,
  recordsOf,
  settlementOf,
  visitAll,
} from './store-scene.ts';
import type { Behaviour, Scene } from './store-scene.ts';

const textAt = ({ archive }: Scene, span: Span): string => new TextDecoder().decode(archive.read(span));

export const settleContract = (it: Behaviour): void => {
  it('a settled page can be read back with everything that is known of it', async (scene) => {
    await scene.store.admit([link('a.example/1', { depth: 2, via: 'https://b.example/' })]);
    const visit = await claimOne(scene.store);
    const page = pageOf(visit, {
      outcome: 'redirected',
      status: 301,
      redirect: 'https://c.example/',
      truncated: 'length',
      noindex: true,
    });
    const done = await scene.store.settle([settlementOf(visit, { page, records: recordsOf('one', 'robots;') })]);
    assert.deepEqual(done, { settled: 1, refused: 0 });
    const [row, ...others] = await scene.pages();
    assert.ok(row && isArchived(row));
    assert.deepEqual(others, []);
    assert.deepEqual({ ...row, ...NO_PLACE }, { ...page, ...NO_PLACE });
    assert.equal(textAt(scene, row), 'response one;');
    assert.equal(textAt(scene, { ...row, warc_length: row.warc_group_length }), 'response one;text one;');
    assert.equal(textAt(scene, { ...row, warc_offset: 0, warc_length: row.warc_offset }), 'robots;');
  });

  it('pages of a batch lie where their rows say, and the census knows where they end', async (scene) => {
    await scene.store.admit(Array.from({ length: 200 }, (_, i) => link(`s${i}.example/1`)));
    const { visits } = await scene.store.claim(ask());
    await scene.store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.site) })));
    const rows = await scene.pages();
    assert.deepEqual(
      rows.map((row) => row.site),
      visits.map((visit) => visit.site),
      'in the order of settling',
    );
    for (const row of rows) assert.equal(textAt(scene, row), `response ${row.site};`);
    const census = await scene.store.census();
    assert.deepEqual(census.archive, scene.archive.end());
    assert.equal(census.archivedBytes, scene.archive.totalBytes());
  });

  it('a page without records has no place', async ({ store, pages }) => {
    await store.admit([link('a.example/1'), link('b.example/1')]);
    const visits = await claimBySite(store);
    const robotsOnly = { bytes: new TextEncoder().encode('robots;'), pageAt: -1, pageLength: 0 };
    await store.settle(
      [...visits.values()].map((visit) =>
        settlementOf(visit, { records: visit.site === 'a.example' ? robotsOnly : null }),
      ),
    );
    assert.deepEqual(
      (await pages()).map(({ warc_file, warc_offset, warc_length, warc_group_length }) => ({
        warc_file,
        warc_offset,
        warc_length,
        warc_group_length,
      })),
      [NO_PLACE, NO_PLACE],
    );
    assert.equal((await store.census()).archivedBytes, 7);
  });

  it('settled links are counted by outcome, and only answered ones are pages', async ({ store }) => {
    const outcomes = [
      'fetched',
      'fetched',
      'client-error',
      'robots-denied',
      'failed-dns',
      'body-skipped',
      'too-deep',
    ] as const;
    await store.admit(outcomes.map((_, i) => link(`s${i}.example/1`)));
    const { visits } = await store.claim(ask());
    await store.settle(
      visits.map((visit, i) => settlementOf(visit, { page: pageOf(visit, { outcome: outcomes[i] ?? 'trap' }) })),
    );
    const census = await store.census();
    const counted = Object.fromEntries(Object.entries(census.settled).filter(([, count]) => count > 0));
    assert.deepEqual(counted, {
      fetched: 2,
      'client-error': 1,
      'robots-denied': 1,
      'failed-dns': 1,
      'body-skipped': 1,
      'too-deep': 1,
    });
    assert.equal(census.pages, 4);
    assert.deepEqual([census.waiting, census.leased], [0, 0]);
  });

  it('a link to retry goes to the end of its queue with its tries counted', async (scene) => {
    const { store, clock } = scene;
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { fate: 'retry' })]);
    clock.advance(DELAY_MS);
    const other = await claimOne(store);
    assert.deepEqual([other.link.url, other.tries], ['https://a.example/2', 1]);
    await store.settle([settlementOf(other)]);
    clock.advance(DELAY_MS);
    const again = await claimOne(store);
    assert.deepEqual([again.link.url, again.tries], ['https://a.example/1', 2]);
    assert.equal((await scene.pages()).length, 1);
  });

  it('a returned link goes to the head of its queue and its claim is not counted', async ({ store, clock, pages }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { fate: 'returned', pace: visit.pace })]);
    const again = await claimOne(store);
    assert.equal(again.claimedAt, clock.now(), 'with its former clock the site is due as before');
    assert.deepEqual([again.link.url, again.tries], ['https://a.example/1', 1]);
    assert.notEqual(again.lease, visit.lease);
    assert.deepEqual(await pages(), []);
  });

  it('of a visit that is tried again only robots.txt is archived', async ({ store, archive }) => {
    await store.admit(linksOf('a.example', 1));
    const records = recordsOf('one', 'robots;');
    await store.settle([settlementOf(await claimOne(store), { fate: 'retry', records })]);
    assert.equal(archive.totalBytes(), Buffer.byteLength('robots;'));
    const census = await store.census();
    assert.deepEqual([census.archivedBytes, census.archive], [archive.totalBytes(), archive.end()]);
  });

  it('robots rules come back with the next visit to their origin, and to no other', async ({ store, clock }) => {
    const secure = link('a.example/2');
    const plain = link('a.example/3', { url: 'http://a.example/3' as CanonicalUrl });
    const port = link('a.example/4', { url: 'https://a.example:8443/4' as CanonicalUrl });
    const subdomain = link('a.example/5', { url: 'https://www.a.example/5' as CanonicalUrl });
    await store.admit([link('a.example/1'), plain, port, subdomain, secure]);
    const rules: RobotsRecord = {
      origin: 'https://a.example',
      fetchedAt: clock.now(),
      expiresAt: clock.now() + 1_000,
      verdict: 'rules',
      rules: '-/private\n+/private/ü',
      crawlDelayMs: null,
      failures: 2,
    };
    let fetched: RobotsRecord | null = rules;
    const brought: [string, Visit['robots']][] = [];
    for (let i = 0; i < 5; i++) {
      const visit = await claimOne(store);
      brought.push([visit.link.url, visit.robots]);
      await store.settle([settlementOf(visit, { fate: i === 0 ? 'retry' : 'settled', robots: fetched })]);
      fetched = null;
      clock.advance(DELAY_MS);
    }
    assert.deepEqual(brought, [
      ['https://a.example/1', null],
      [plain.url, null],
      [port.url, null],
      [subdomain.url, null],
      [secure.url, rules],
    ]);
    const newer: RobotsRecord = { ...rules, fetchedAt: clock.now(), verdict: 'all', rules: '', crawlDelayMs: 2_500 };
    const retried = await claimOne(store);
    assert.deepEqual(retried.robots, rules, 'stale rules come back too');
    await store.settle([settlementOf(retried, { fate: 'returned', robots: newer })]);
    clock.advance(DELAY_MS);
    assert.deepEqual((await claimOne(store)).robots, newer);
  });

  it('a site parked by a settlement keeps its links and is not visited', async ({ store, clock }) => {
    await store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 3)]);
    const visits = await claimBySite(store);
    await store.settle(
      [...visits.values()].map((visit) =>
        settlementOf(visit, { parked: true, fate: visit.site === 'a.example' ? 'settled' : 'retry' }),
      ),
    );
    clock.advance(1_000 * DELAY_MS);
    await claimNothing(store);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.leased, census.parked], [0, 0, 5]);
    assert.deepEqual([census.sites.parked, census.sitesDue, census.next], [2, 0, null]);
  });

  it('a settlement whose lease is not in force is refused, and its record is not kept', async (scene) => {
    const { store, archive, clock } = scene;
    await store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 3)]);
    const visits = await claimBySite(store);
    const [a, b] = [visits.get('a.example'), visits.get('b.example')];
    assert.ok(a && b);
    await store.settle([settlementOf(a, { records: recordsOf('a') })]);
    await store.steer([{ kind: 'free', holder: null, counted: true }]);
    clock.advance(DELAY_MS);
    const again = await claimBySite(store);
    const before = await store.census();
    const bytesBefore = archive.totalBytes();
    const robots: RobotsRecord = {
      origin: 'https://a.example',
      fetchedAt: 0,
      expiresAt: 0,
      verdict: 'all',
      rules: '',
      crawlDelayMs: null,
      failures: 0,
    };
    const stale = [
      settlementOf(a, { records: recordsOf('settled twice'), parked: true, robots }),
      settlementOf(b, { records: recordsOf('freed before'), pace: paceAfter(b, { dueAt: 0 }) }),
      settlementOf(b, { lease: 987_654_321, records: recordsOf('never given') }),
      settlementOf(b, { lease: again.get('a.example')?.lease ?? 0, records: recordsOf('of another site') }),
      settlementOf(b, { site: 'unknown.example', records: recordsOf('of no site') }),
    ];
    assert.deepEqual(await store.settle(stale), { settled: 0, refused: 5, refusedAt: [0, 1, 2, 3, 4] });
    assert.deepEqual(await store.census(), before);
    assert.equal(archive.totalBytes(), bytesBefore);
    assert.equal((await scene.pages()).length, 1);
  });

  it('of a batch the good settlements are kept and the others refused', async (scene) => {
    const { store } = scene;
    await store.admit([link('a.example/1'), link('b.example/1'), link('c.example/1')]);
    const { visits } = await store.claim(ask());
    const [first, second, third] = visits;
    assert.ok(first && second && third);
    await store.settle([settlementOf(second, { records: recordsOf('before') })]);
    const batch = [first, second, third, first].map((visit, i) =>
      settlementOf(visit, { records: recordsOf(`batch ${i}`) }),
    );
    assert.deepEqual(await store.settle(batch), { settled: 2, refused: 2, refusedAt: [1, 3] });
    const texts = (await scene.pages()).map((row) => textAt(scene, row));
    assert.deepEqual(texts, ['response before;', 'response batch 0;', 'response batch 2;']);
    assert.equal(scene.archive.totalBytes(), (await store.census()).archivedBytes);
  });

  it('when the archive takes nothing, nothing changes and the same settlements work later', async (scene) => {
    const { store, archive, clock } = scene;
    await store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2)]);
    const { visits } = await store.claim(ask());
    const settlements = visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.site) }));
    const before = await store.census();
    archive.fault = new Error('no space left');
    await assert.rejects(store.settle(settlements), StoreFault);
    assert.deepEqual(await store.census(), before);
    assert.deepEqual(await scene.pages(), []);
    clock.advance(DELAY_MS);
    assert.deepEqual((await store.claim(ask())).visits, [], 'the leases stay in force');
    archive.fault = null;
    assert.deepEqual(await store.settle(settlements), { settled: 2, refused: 0 });
    assert.equal((await scene.pages()).length, 2);
    assert.deepEqual((await store.census()).archive, archive.end());
    assert.deepEqual(await visitAll(scene), ['/2', '/2']);
  });
};
