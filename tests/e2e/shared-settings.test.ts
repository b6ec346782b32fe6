/** Settings and lists belong to the crawl: what one member changes holds for all, while they run and later. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Identity } from '../../src/folder/folder.ts';
import { ledgerOf } from '../support/ledger-check.ts';
import { obeyed } from '../support/obeyed.ts';
import { membersOn } from '../support/shared-members.ts';
import { SHARED_STORES, type SharedServer, type SharedStoreName } from '../support/shared-servers.ts';
import { assertCode, flagWords, onStage, plainPlan, type Stage, type Status } from '../support/stage.ts';
import { until } from '../support/until.ts';

const onServer = async (store: SharedStoreName, story: (server: SharedServer) => Promise<void>): Promise<void> => {
  const server = await SHARED_STORES[store]();
  try {
    await story(server);
  } finally {
    await server.remove();
  }
};

const identityOf = (dir: string): Identity => JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as Identity;

const hostsOf = (stage: Stage): string[] => {
  const seeds = stage.world.seeds().map((seed) => new URL(seed).hostname);
  return [...new Set(stage.served.record.requests.map(({ host }) => host))].filter((host) => !seeds.includes(host));
};

const begun = async (dir: string): Promise<void> =>
  until('it takes part', () => existsSync(join(dir, 'crawl.json')) && existsSync(join(dir, 'ledger')));

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: what one member changes by a resume, one that runs all the time obeys, and keeps later`, () =>
    onServer(store, (server) =>
      onStage(plainPlan(5, 10_000, 2_000), async (stage) => {
        const { requests } = stage.served.record;
        const settings = { 'disk-reserve': '10MiB', fetchers: 1, parsers: 1 };
        const members = membersOn(stage, { url: await server.place(), name: 'ours', settings });
        const { first, second } = members.dirs;
        const one = members.start('first');
        await until('the crawl is there', () => requests.length > 0);
        const two = members.start('second', { fetchers: 1, parsers: 1 });
        await begun(second);
        await until('all sites are known', () => hostsOf(stage).length >= 4);
        one.send('SIGINT');
        assertCode(await one.ended, 3);

        const [pattern] = hostsOf(stage);
        const change = { delay: '700ms', 'user-agent': 'Second/2', exclude: [pattern!] };
        const again = members.start('first', { ...change, 'max-duration': 1 });
        assertCode(await again.ended, 0);
        assert.equal(identityOf(first).journal?.number, 2);
        const said = { userAgent: 'Second/2', delayMs: 700, excluded: [pattern!] };
        const byFirst = requests.length;
        await until('the other one obeys', () => obeyed(requests.slice(byFirst), said).count >= 6);
        assert.equal(two.isOver(), false, 'the time of a run is its own');
        two.send('SIGINT');
        assertCode(await two.ended, 3);
        assert.deepEqual(obeyed(requests, said).wrong, []);
        const { settings: kept, journal } = identityOf(second);
        assert.deepEqual(
          [kept.delayMs, kept.userAgent, kept.exclude, journal?.number],
          [700, 'Second/2', [pattern], 2],
        );
        assert.equal(kept.maxDurationMs, null);
        const notes = ledgerOf(second);
        const late = notes.filter(({ request }) => request.entry === 2);
        assert.ok(late.length >= 6 && notes.some(({ request }) => request.entry === 1));
        for (const { head } of late) assert.deepEqual([head.delayMs, head.userAgent.slice(0, 8)], [700, 'Second/2']);

        stage.served.record.clear();
        const later = members.start('second');
        await until('it goes on', () => requests.length > 1);
        later.send('SIGINT');
        assertCode(await later.ended, 3);
        assert.deepEqual([...new Set(requests.map(({ userAgent }) => userAgent.slice(0, 8)))], ['Second/2']);
        const audited = await members.gossamer('audit', first, second);
        assertCode(audited, 0);
      }),
    ));

  test(`${store}: a scope that becomes narrow and wide again while two members run loses no link`, () =>
    onServer(store, (server) =>
      onStage(plainPlan(4, 400, 100), async (stage) => {
        const { requests } = stage.served.record;
        const url = await server.place();
        const settings = { 'disk-reserve': '10MiB', fetchers: 1, parsers: 1 };
        const members = membersOn(stage, { url, name: 'ours', settings });
        const set = async (...words: readonly string[]): Promise<void> =>
          assertCode(await stage.gossamer('set', ...flagWords({ store: url, name: 'ours' }), ...words), 0);
        // Slow, so that it does not end before it is changed, however slow the machine is.
        const one = members.start('first', { delay: '1s' });
        await until('the crawl is there', () => requests.length > 0);
        const two = members.start('second', { fetchers: 1, parsers: 1 });
        await begun(members.dirs.second);
        await until('all sites are known', () => hostsOf(stage).length >= 3);
        await set('--scope', 'site', '--user-agent', 'Narrow/2');
        const named = (name: string) => requests.filter(({ userAgent }) => userAgent.startsWith(name));
        await until('visits begin under it', () => named('Narrow/2').length > 3);
        const home = stage.world.seeds().map((seed) => stage.world.siteOf(new URL(seed).hostname)!.name);
        // The one that has the seeds says where they are at home: until it has, nobody is.
        assert.deepEqual([...new Set(named('Narrow/2').map(({ site }) => site))], home);
        await set('--scope', 'any', '--delay', '50ms', '--user-agent', 'Wide/3');
        for (const ended of await Promise.all([one.ended, two.ended])) assertCode(ended, 0);
        assert.ok(named('Wide/3').some(({ site }) => !home.includes(site)));
        const status = JSON.parse((await members.gossamer('status', stage.dir, '--json')).stdout) as Status;
        assert.deepEqual([status.held, status.waiting, status.settled], [0, 0, 400]);
        assertCode(await members.gossamer('audit', members.dirs.first, members.dirs.second), 0);
      }),
    ));

  test(`${store}: who joins takes what is in force, and changes nothing; set changes it for all without a directory`, () =>
    onServer(store, (server) =>
      onStage(plainPlan(2, 12), async (stage) => {
        const url = await server.place();
        const named = { store: url, name: 'ours' };
        assertCode(await stage.crawl({ ...named, 'max-pages': 4, fetchers: 1 }), 0);
        const dir = join(stage.home, 'second');
        const join2 = (flags: object) => stage.gossamer('join', dir, ...flagWords({ ...named, ...flags }));
        const refused = await join2({ delay: '1ms' });
        assertCode(refused, 2);
        assert.match(
          refused.stderr,
          /^gossamer: --delay belongs to the whole crawl, not to one member of it: join without it, .* "gossamer set" or "gossamer resume"\n$/,
        );
        assert.equal(existsSync(dir), false, 'and nothing is made');

        const words = ['set', ...flagWords(named)];
        const set = await stage.gossamer(...words, '--max-pages', 'none', '--user-agent', 'Third/3', '--json');
        assertCode(set, 0);
        assert.deepEqual(JSON.parse(set.stdout), {
          change: 2,
          isNew: true,
          settings: { 'user-agent': { was: '', now: 'Third/3' }, 'max-pages': { was: 4, now: null } },
          excluded: null,
        });
        const wrong = await stage.gossamer('set', ...flagWords({ store: url, name: 'nobody' }), '--delay', '1s');
        assertCode(wrong, 2);
        assert.match(wrong.stderr, /has no crawl "nobody"/);

        // What it gives is in force already, or its own.
        const before = stage.served.record.requests.length;
        assertCode(await join2({ 'max-pages': 'none', delay: '50ms', concurrency: 7, fetchers: 1 }), 0);
        const later = stage.served.record.requests.slice(before);
        assert.ok(later.length > 0 && later.every(({ userAgent }) => userAgent.startsWith('Third/3')));
        const { settings, journal } = identityOf(dir);
        assert.deepEqual([settings.concurrency, settings.maxPages, journal?.number], [7, null, 2]);
        // The first one learns of it when it is resumed.
        assert.equal(identityOf(stage.dir).settings.maxPages, 4);
        assertCode(await stage.gossamer('resume', stage.dir, ...flagWords({ store: url })), 0);
        assert.equal(identityOf(stage.dir).settings.maxPages, null);
      }),
    ));
}
