/** Two processes on one crawl in a shared store: no page twice, none lost, no visit too early. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBinary, type Running } from '../support/binary.ts';
import { compareWith, ledgerOf } from '../support/ledger-check.ts';
import { SHARED_STORES, type SharedServer, type SharedStoreName } from '../support/shared-servers.ts';
import {
  assertAddsUp,
  assertCode,
  assertNoFault,
  flagWords,
  onStage,
  plainPlan,
  type Flags,
  type ListedPage,
  type Stage,
} from '../support/stage.ts';

const withServer = async (store: SharedStoreName, story: (server: SharedServer) => Promise<void>): Promise<void> => {
  const server = await SHARED_STORES[store]();
  try {
    await story({
      ...server,
      // Those who read have the password from there.
      place: async () => (process.env.GOSSAMER_STORE = await server.place()),
    });
  } finally {
    delete process.env.GOSSAMER_STORE;
    await server.remove();
  }
};

const count = (text = ''): number => Number(text.replaceAll(',', ''));

const second = (stage: Stage): string => join(stage.home, 'second');

const join2 = (stage: Stage, flags: Flags): Running =>
  startBinary(['join', second(stage), ...flagWords(flags)], { cwd: stage.home });

/** Whoever joins before the crawl is there is told so, and tries again. */
const joined = async (stage: Stage, flags: Flags): Promise<Running> => {
  for (;;) {
    const running = join2(stage, flags);
    while (!running.isOver() && !existsSync(join(second(stage), 'crawl.json'))) await sleep(50);
    if (existsSync(join(second(stage), 'crawl.json'))) return running;
    assert.match((await running.ended).stderr, /has no crawl "two": start it by "gossamer crawl"/);
  }
};

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: a member that joins runs no module on the word of the store: it names its own, or says that it wants none`, () =>
    withServer(store, (server) =>
      onStage(plainPlan(2, 6), async (stage) => {
        const trace = join(stage.home, 'ran.txt');
        const hooks = (name: string): string => {
          const path = join(stage.home, `${name}.mjs`);
          const text = `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(trace)}, '${name} ');\n`;
          writeFileSync(path, `${text}export const accept = () => true;\n`);
          return path;
        };
        const flags = { store: await server.place(), name: 'hooked' };
        assertCode(await stage.crawl({ ...flags, hooks: hooks('first') }), 0);
        assert.match(readFileSync(trace, 'utf8'), /^(first )+$/);

        rmSync(trace);
        const refused = await join2(stage, flags).ended;
        assertCode(refused, 2);
        assert.match(
          refused.stderr,
          /^gossamer: the crawl "hooked" uses hooks, "\S+first\.mjs" where it was begun, .* --hooks FILE, or --hooks '' /,
        );
        assert.equal(existsSync(trace), false, 'nothing ran');
        assert.equal(existsSync(second(stage)), false, 'and nothing was made');

        assertCode(await join2(stage, { ...flags, hooks: hooks('own') }).ended, 0);
        assert.match(readFileSync(trace, 'utf8'), /^(own )+$/);

        rmSync(trace);
        rmSync(second(stage), { recursive: true });
        assertCode(await join2(stage, { ...flags, hooks: '' }).ended, 0);
        assert.equal(existsSync(trace), false);
      }),
    ));

  test(`${store}: a crawl alone is whole, and can be read and checked`, () =>
    withServer(store, (server) =>
      onStage(plainPlan(12, 80, 20), async (stage) => {
        const url = await server.place();
        assertCode(await stage.crawl({ store: url, name: 'one' }), 0);
        assertNoFault(stage.report());
        const status = await stage.status();
        assertAddsUp(status);
        const rows = await stage.pages();
        assert.equal(rows.length, status.settled);
        assert.equal(rows.filter(({ warc_file }) => warc_file !== null).length, status.pages);
        assertCode(await stage.gossamer('verify', stage.dir), 0);
        const again = await stage.gossamer(
          'crawl',
          stage.seedFile,
          '--dir',
          join(stage.home, 'other'),
          ...flagWords({ email: 'a@example.org', store: url, name: 'one' }),
        );
        assertCode(again, 2);
        assert.match(
          again.stderr,
          /has a crawl "one" already: take part in it by "gossamer join", or choose another --name/,
        );
      }),
    ));

  test(`${store}: two processes share a crawl`, () =>
    withServer(store, (server) =>
      onStage(plainPlan(60, 900, 30), async (stage) => {
        const url = await server.place();
        const flags = { store: url, name: 'two' };
        const log = join(stage.home, 'first.log');
        const first = stage.startCrawl({ ...flags, 'log-file': log });
        const other = await joined(stage, flags);
        const ends = await Promise.all([first.ended, other.ended]);
        for (const ended of ends) assertCode(ended, 0);
        const status = await stage.status();
        const own = ends.map(({ stdout }) => {
          const [, mine, all] =
            / ([\d,]+) pages in this run \(.*\/s\), of ([\d,]+) in the whole crawl/.exec(stdout) ?? [];
          assert.equal(count(all), status.pages, stdout);
          return count(mine);
        });
        assert.equal(own[0]! + own[1]!, status.pages, `each counts its own pages: ${own.join(' and ')}`);
        assertNoFault(stage.report());
        assert.deepEqual(
          [log, join(second(stage), 'logs', 'gossamer.log')].map(
            (path) => readFileSync(path, 'utf8').match(/"run begins"/g)?.length,
          ),
          [1, 1],
          'each has a log of its own',
        );
        const counts = await Promise.all(
          [stage.dir, second(stage)].map(async (dir) => {
            assertCode(await stage.gossamer('verify', dir), 0);
            const ran = await stage.gossamer('pages', dir, '--format', 'jsonl');
            return ran.stdout
              .split('\n')
              .filter((line) => line !== '' && (JSON.parse(line) as ListedPage).warc_file !== null).length;
          }),
        );
        assert.ok(
          counts.every((count) => count > 50),
          `both worked: ${counts.join(' and ')} pages`,
        );
        const audited = await stage.gossamer('audit', stage.dir, second(stage));
        assertCode(audited, 0);
        assert.match(audited.stdout, /^\d+ requests, 60 sites, 0 violations\n$/);
        assert.deepEqual(
          compareWith(ledgerOf(stage.dir, second(stage)), stage.served.record.requests).wrong,
          [],
          'the ledgers of both have every request',
        );
        const files = [stage.dir, second(stage)].flatMap((dir) => readdirSync(join(dir, 'warc')));
        assert.equal(new Set(files).size, files.length, 'archive files of both can lie in one place');
      }),
    ));
}
