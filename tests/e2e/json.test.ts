/** `--json` on every command that prints: one document, or one on each line, with nothing beside it. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { COMMANDS } from '../../src/cli/main.ts';
import { endBinaries, runBinary, startBinary, type Ran } from '../support/binary.ts';
import { htmlOf, servePages, type ServedPages } from '../support/few-pages.ts';
import { runInTerminal } from '../support/in-terminal.ts';
import { assertCode } from '../support/stage.ts';
import { until } from '../support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-json-'));
const dir = join(home, 'crawl');
let served: ServedPages;
let crawled: Ran;

before(async () => {
  served = await servePages({ '/': htmlOf('first', ['/second', '/third']), '/second': htmlOf('second', ['/']) });
  crawled = await runBinary([
    ...['crawl', '--url', served.seed, '--dir', dir, '--email', 'test@example.org', '--delay', '1ms', '--json'],
    ...['--connect-to', served.connectTo[0]!, '--disk-reserve', '0'],
  ]);
  assertCode(crawled, 0);
});
after(async () => {
  endBinaries();
  await served.close();
  rmSync(home, { recursive: true, force: true });
});

type Json = Readonly<Record<string, unknown>>;

/** What it printed, each line a JSON object. */
const linesOf = ({ stdout }: Pick<Ran, 'stdout'>): Json[] =>
  stdout
    .split(/\r*\n/)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json);

const one = async (code: number, ...args: readonly string[]): Promise<Json> => {
  const ran = await runBinary(args);
  assertCode(ran, code);
  return JSON.parse(ran.stdout) as Json;
};

test('every command that prints has --json, and its help says whether it is one object or lines', () => {
  for (const { name, flags } of COMMANDS) {
    if (name === 'completion') continue; // prints a script for a shell
    assert.match(flags.find((flag) => flag.name === 'json')?.says ?? '', /one JSON object|JSON lines/, name);
  }
});

test('a crawl ends with a line that has its reason and its numbers', () => {
  const last = linesOf(crawled).at(-1)!;
  assert.deepEqual([last.reason, last.pages, last.dir], ['finished', 3, dir]);
});

test('pages and sites print JSON lines, the same as with --format jsonl', async () => {
  for (const command of ['pages', 'sites']) {
    const short = await runBinary([command, dir, '--json']);
    assertCode(short, 0);
    assert.equal(linesOf(short).length, command === 'pages' ? 3 : 1);
    if (command === 'pages') assert.equal(short.stdout, (await runBinary([command, dir, '--format', 'jsonl'])).stdout);
    const both = await runBinary([command, dir, '--json', '--format', 'csv']);
    assertCode(both, 2);
    assert.match(both.stderr, /--json is short for --format jsonl: give one of the two/);
  }
});

test('show prints one object: of a page, with its parts, and of a URL that is not known', async () => {
  const page = await one(0, 'show', dir, served.seed, '--json', '--text', '--headers');
  assert.deepEqual([page.url, page.state, page.text], [served.seed, 'settled', 'text of first\n\n/second/third']);
  const { status, depth, title, time } = page.page as Json;
  assert.deepEqual([status, depth, title, typeof time], [200, 0, 'first', 'string']);
  assert.match((page.headers as { response: string }).response, /^HTTP\/1\.1 200 /);
  assert.match((page.headers as { request: string }).request, /^GET \/ HTTP\/1\.1/);
  assert.equal((page.site as Json).pages, 3);
  const unknown = await one(1, 'show', dir, 'http://few.example/nowhere', '--json');
  assert.deepEqual([unknown.state, unknown.page], ['unknown', null]);
});

test('status, explain, config, verify and audit print one object', async () => {
  assert.equal((await one(0, 'status', dir, '--json')).pages, 3);
  assert.equal((await one(0, 'explain', dir, served.seed, '--json')).reason, 'fetched');
  assert.deepEqual((await one(0, 'config', dir, '--json')).delay, { value: '1ms', from: 'crawl' });
  assert.equal((await one(0, 'verify', dir, '--json')).sound, true);
  assert.equal((await one(0, 'audit', dir, '--json')).violationCount, 0);
});

test('export prints one object about its file, and needs one', async () => {
  const file = join(home, 'pages.csv');
  assert.deepEqual(await one(0, 'export', dir, '--format', 'csv', '--out', file, '--json'), {
    file,
    format: 'csv',
    of: 'pages',
    rows: 3,
    elsewhere: 0,
    cut: 0,
  });
  const ran = await runBinary(['export', dir, '--format', 'csv', '--json']);
  assertCode(ran, 2);
  assert.match(ran.stderr, /--json tells of the file of --out, which is missing/);
  assert.equal(ran.stdout, '');
});

test('migrate prints one object, with both sides', async () => {
  const { kind, from, to } = (await one(0, 'migrate', dir, '--shards', '7', '--json')) as {
    kind: string;
    from: Json;
    to: Json;
  };
  assert.deepEqual([kind, from.pages, to.pages, to.shards, to.store], ['moved', 3, 3, 7, 'sqlite']);
});

test('a fault leaves the output empty, says its sentence on the error output, and has its exit code', async () => {
  for (const command of ['status', 'pages', 'sites', 'verify', 'audit']) {
    const ran = await runBinary([command, join(home, 'nothing'), '--json']);
    assertCode(ran, 2);
    assert.deepEqual([ran.stdout, /^gossamer: there is no crawl in/.test(ran.stderr)], ['', true], command);
  }
});

test('world prints one object when it is served', async () => {
  const world = startBinary(['world', '--sites', '2', '--pages', '10', '--plain', '--json'], { cwd: home });
  await until('the small web says what it is', () => world.said().endsWith('\n'));
  const { sites, connectTo } = JSON.parse(world.said()) as Json;
  assert.deepEqual([sites, (connectTo as string[]).length], [2, 2]);
  world.send('SIGINT');
  assertCode(await world.ended, 0);
});

test('a terminal gets the same JSON', async () => {
  for (const args of [
    ['pages', dir],
    ['verify', dir],
    ['status', dir],
    ['show', dir, served.seed],
  ])
    assert.ok(linesOf(await runInTerminal([...args, '--json'])).length > 0, args[0]);
});
