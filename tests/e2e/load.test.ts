/** Many visits at once among bad servers, in short; `bench/load.ts` is the long form. */

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCrawl } from '../../src/run/open.ts';
import { startRun } from '../../src/run/run.ts';
import type { Snapshot } from '../../src/observe/snapshot.ts';
import { runBinary } from '../support/binary.ts';
import { until } from '../support/until.ts';

const VISITS = 200;
const TIMEOUT_MS = 1_000;
/** By then hanging servers have cost many time-outs. */
const PAGES_LEAST = 1_000;
const FAILURES_LEAST = 500;
/** robots.txt with its redirects, and the page. */
const VISIT_REQUESTS_MAX = 7;
const WORLD = fileURLToPath(new URL('../../bench/load-world.ts', import.meta.url));

/** Null where the system does not tell. */
const openDescriptors = (): number | null => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : null);

test('among slow, hanging, resetting and failing servers every visit ends in its time, and nothing is left open', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-e2e-'));
  const web = fork(WORLD, [String(3 * VISITS), String(TIMEOUT_MS / 2)]);
  try {
    const [{ connectTo, seeds }] = (await once(web, 'message')) as [{ connectTo: string[]; seeds: string[] }];
    const before = openDescriptors();
    const dir = join(home, 'crawl');
    const crawl = await createCrawl({
      dir,
      seeds: { files: [], urls: seeds },
      excludeFile: null,
      say: () => {},
      settings: {
        email: 'test@example.org',
        connectTo,
        fetchers: 1,
        parsers: 1,
        concurrency: VISITS,
        timeoutMs: TIMEOUT_MS,
        delayMs: 0,
        troubleDelayMs: 0,
        parkAfter: 1_000_000,
        diskReserveBytes: 0,
        bodyBytesMax: 256 * 1024,
      },
    });
    let most = 0;
    // It is stopped when it has met all of that, however long this takes.
    const onSnapshot = ({ visits, census, failures }: Snapshot): void => {
      most = Math.max(most, visits);
      if (most > VISITS / 2 && (census?.pages ?? 0) > PAGES_LEAST && failures > FAILURES_LEAST) run.stop();
    };
    const run = startRun({
      dir,
      settings: crawl.identity.settings,
      store: crawl.store,
      log: () => {},
      onSnapshot,
    });
    const end = await run.ended;
    crawl.lock.release();

    assert.deepEqual([end.reason, end.fault], ['stopped', null]);
    t.diagnostic(`${most} visits at once, ${end.census!.pages} pages, ${end.snapshot.failures} failures`);
    assert.deepEqual([end.census!.leased, end.snapshot.visits, end.snapshot.bodyBytes], [0, 0, 0]);
    assert.equal(end.snapshot.restarts, 0);
    const { p50Ms, p99Ms, maxMs } = end.snapshot.loopDelayOverall;
    // Each of its requests may end late by as long as the event loop stood still at the most.
    const longestMsMax = end.snapshot.visitRequestsMsMax + VISIT_REQUESTS_MAX * maxMs;
    assert.ok(end.snapshot.longestVisitMs <= longestMsMax, `a visit took ${end.snapshot.longestVisitMs} ms`);
    assert.ok(0 <= p50Ms && p50Ms <= p99Ms && p99Ms <= maxMs && maxMs > 0, 'the fetch thread tells of its event loop');
    await until('no descriptor is left open', () => openDescriptors() === before);
    const verified = await runBinary(['verify', dir]);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  } finally {
    const ended = once(web, 'exit');
    web.disconnect();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
});
