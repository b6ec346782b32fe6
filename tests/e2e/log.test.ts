/** The log of a real crawl: where it lies, what is in it, and what becomes of it when somebody rotates it. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

interface Line {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

const linesOf = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
const ownLog = (dir: string): string => join(dir, 'logs', 'gossamer.log');
const PLAN = plainPlan(6, 60, 20);

test('the log lies in the crawl and has no line for a page; a resume writes on', () =>
  onStage(PLAN, async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 20 }), 0);
    assertCode(await stage.resume({ 'max-pages': 'none' }), 0);
    assert.deepEqual(
      linesOf(ownLog(stage.dir)).map(({ level, message }) => `${level} ${message.replace(/\d+/g, 'N')}`),
      ['info run begins', 'info run ends: max-pages, N pages', 'info run begins', 'info run ends: finished, N pages'],
    );
    const [begun, ended] = linesOf(ownLog(stage.dir));
    assert.equal((begun!.settings as Record<string, unknown>).maxPages, 20);
    assert.equal(ended!.reason, 'max-pages');
  }));

test('at debug every page has its line, with what is known of it as fields', () =>
  onStage(PLAN, async (stage) => {
    const ran = await stage.crawl({ 'log-level': 'debug' });
    assertCode(ran, 0);
    const lines = linesOf(ownLog(stage.dir)).filter(({ level }) => level === 'debug');
    const rows = await stage.pages();
    const told = new Map(lines.filter(({ fate }) => fate === 'settled').map((line) => [line.url, line]));
    assert.equal(told.size, rows.length);
    for (const { url, site, outcome, status } of rows) {
      const line = told.get(url);
      assert.deepEqual({ site: line?.site, outcome: line?.outcome, status: line?.status }, { site, outcome, status });
      assert.match(String(line?.thread), /^fetch-\d+$/);
      assert.ok(Number.isInteger(line?.tookMs));
      assert.ok(ran.stderr.includes(`settled ${outcome} ${status} ${url}\n`), 'a person reads words, not JSON');
    }
  }));

test('--log-file is kept as an absolute path; the crawl then has no log of its own', () =>
  onStage(PLAN, async (stage) => {
    assertCode(await stage.crawl({ 'log-file': 'crawl.log' }), 0);
    const path = join(stage.home, 'crawl.log');
    assert.equal(
      (JSON.parse(readFileSync(join(stage.dir, 'crawl.json'), 'utf8')) as { settings: { logFile: string } }).settings
        .logFile,
      path,
    );
    assert.ok(linesOf(path).length > 0);
    assert.ok(!existsSync(join(stage.dir, 'logs')));
  }));

test('a log that cannot be written costs the crawl nothing', () =>
  onStage(PLAN, async (stage) => {
    assertCode(await stage.crawl({ 'log-file': '/dev/full', 'log-level': 'debug' }), 0);
    assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
  }));

test('renamed and told by SIGUSR2, a crawl writes on in a new file and loses no line', () =>
  onStage(plainPlan(6, 200, 60), async (stage) => {
    const log = ownLog(stage.dir);
    const away = join(stage.home, 'away');
    mkdirSync(away);
    const run = stage.startCrawl({ 'log-level': 'debug' });
    const moved: string[] = [];
    for (const n of [1, 2]) {
      await until('there are some lines', () => existsSync(log) && linesOf(log).length > 20);
      moved.push(join(away, `${n}.log`));
      renameSync(log, moved.at(-1)!);
      run.send('SIGUSR2');
      await until('the log is there anew', () => existsSync(log));
    }
    assertCode(await run.ended, 0);
    const lines = [...moved, log].flatMap(linesOf);
    assert.deepEqual([lines[0]!.message, lines.at(-1)!.message.split(':')[0]], ['run begins', 'run ends']);
    assert.equal(
      new Set(lines.map(({ url }) => url)).size,
      (await stage.pages()).length + 1,
      'each page has its line, and the two lines of the run have no URL',
    );
  }));
