/** The ledger: every request is on file before it is sent, and what a kill leaves can be read. */

import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { leftoversIn, packAll, packFile } from '../src/ledger/files.ts';
import type { NotedRequest } from '../src/ledger/format.ts';
import { readLedger, type ReadRequest } from '../src/ledger/read.ts';
import { LedgerFault, openLedger, type Ledger } from '../src/ledger/writer.ts';
import { until } from './support/until.ts';

const AT = Date.UTC(2026, 0, 1);
const HEAD = {
  version: '1',
  userAgent: 'Gossamer/1 (+contact; me@example.org)',
  productToken: 'gossamer',
  delayMs: 5_000,
  timeoutMs: 30_000,
  keep: 'all',
};

const requestOf = (n: number, more: Partial<NotedRequest> = {}): NotedRequest => ({
  at: AT + 10 * n,
  lease: 100 + n,
  kind: 'page',
  delayMs: 5_000,
  restMs: 6_000,
  rules: 'abcdefgh',
  address: '192.0.2.1',
  site: 'example.org',
  url: `https://www.example.org/page/${n}?q=%C3%A9`,
  ...more,
});

const inFolder = async (story: (dir: string) => Promise<void> | void): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-ledger-'));
  try {
    await story(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const open = (dir: string, more: { thread?: string; at?: number; fileBytesMax?: number } = {}): Ledger =>
  openLedger({
    dir,
    now: () => more.at ?? AT,
    thread: more.thread ?? 'fetch-1',
    head: HEAD,
    ...(more.fileBytesMax ? { fileBytesMax: more.fileBytesMax } : {}),
  });

const read = (dir: string): { requests: ReadRequest[]; damage: string[] } => {
  const damage: string[] = [];
  return { requests: [...readLedger({ dir, onDamage: (says) => damage.push(says) })], damage };
};

const rawFile = (dir: string): string => join(dir, readdirSync(dir).find((name) => name.endsWith('.notes'))!);

test('the number of the last change is noted where it is another, and a ledger of before has none', () =>
  inFolder(async (dir) => {
    const rule = { delayMs: 0, own: true, robotsIgnored: false };
    const requests = [
      requestOf(0),
      requestOf(1, { entry: 3 }),
      requestOf(2, { entry: 3, rule }),
      requestOf(3, { entry: 12, rule }),
      requestOf(4, { entry: 12 }),
    ];
    const ledger = open(dir, { fileBytesMax: 10_000 });
    for (const request of requests) ledger.sending(request);
    const lines = readFileSync(rawFile(dir), 'latin1').trim().split('\n').slice(1);
    assert.deepEqual(
      lines.map((line) => line.split('\t').slice(10)),
      [[], ['', '3'], ['0o'], ['0o', '12'], []],
    );
    await ledger.close();
    const { requests: back, damage } = read(dir);
    assert.deepEqual([back.map(({ request }) => request), damage], [requests, []]);
  }));

test('what is noted is read back, each request with its end', () =>
  inFolder(async (dir) => {
    const ledger = open(dir);
    const requests = [
      requestOf(0, { kind: 'robots', rules: '', restMs: 0 }),
      requestOf(1, { kind: 'follow', rules: '', lease: 100, address: '2001:db8::1' }),
      requestOf(2, { lease: 100 }),
      requestOf(3, { kind: 'sitemap', lease: 7 }),
      requestOf(4),
    ];
    const numbers = requests.map((request) => ledger.sending(request));
    assert.deepEqual(numbers, [0, 1, 2, 3, 4]);
    ledger.ended({ number: 3, tookMs: 20, answeredMs: null, result: 'reset' });
    ledger.ended({ number: 0, tookMs: 180, answeredMs: 95, result: '200' });
    ledger.sending(requestOf(5));
    ledger.ended({ number: 1, tookMs: 5, answeredMs: 0, result: '301' });
    await ledger.close();
    const { requests: back, damage } = read(dir);
    assert.deepEqual(damage, []);
    const byTime = back.toSorted((a, b) => a.request.at - b.request.at);
    assert.deepEqual(
      byTime.map(({ request }) => request),
      [...requests, requestOf(5)],
    );
    assert.deepEqual(
      byTime.map(({ end }) => end),
      [
        { number: 0, tookMs: 180, answeredMs: 95, result: '200' },
        { number: 1, tookMs: 5, answeredMs: 0, result: '301' },
        null,
        { number: 3, tookMs: 20, answeredMs: null, result: 'reset' },
        null,
        null,
      ],
    );
    assert.equal(byTime[0]?.head.userAgent, HEAD.userAgent);
  }));

test('a request is on file when its number is known, before anything else happens', () =>
  inFolder((dir) => {
    const ledger = open(dir);
    for (let n = 0; n < 3; n++) {
      ledger.sending(requestOf(n));
      assert.deepEqual(
        read(dir).requests.map(({ request }) => request.url),
        Array.from({ length: n + 1 }, (_, i) => requestOf(i).url),
      );
    }
    return ledger.close();
  }));

test('ends are written without a further request, too', () =>
  inFolder(async (dir) => {
    const ledger = open(dir);
    ledger.ended({ number: ledger.sending(requestOf(0)), tookMs: 1, answeredMs: 1, result: '200' });
    await until('the request has its end', () => read(dir).requests[0]?.end !== null);
    await ledger.close();
  }));

test('half a note at the end of a file is left out, wherever it was torn', () =>
  inFolder(async (dir) => {
    const ledger = open(dir);
    ledger.sending(requestOf(0));
    ledger.sending(requestOf(1));
    const path = rawFile(dir);
    const whole = readFileSync(path);
    const lastAt = whole.subarray(0, -1).lastIndexOf('\n') + 1;
    for (let bytes = whole.length - 1; bytes >= 0; bytes -= 7) {
      truncateSync(path, bytes);
      const { requests, damage } = read(dir);
      assert.deepEqual(damage, [], `torn at ${bytes}`);
      if (bytes >= lastAt)
        assert.deepEqual(
          requests.map(({ request }) => request),
          [requestOf(0)],
        );
    }
    await ledger.close();
  }));

test('a full file is packed, and its requests may end in the next one', () =>
  inFolder(async (dir) => {
    const ledger = open(dir, { fileBytesMax: 2_000 });
    const numbers = Array.from({ length: 100 }, (_, n) => ledger.sending(requestOf(n)));
    for (const number of numbers) ledger.ended({ number, tookMs: number, answeredMs: 1, result: '200' });
    await ledger.close();
    const names = readdirSync(dir);
    assert.ok(names.length > 3 && names.every((name) => name.endsWith('.notes.zst')), names.join(', '));
    const { requests, damage } = read(dir);
    assert.deepEqual(damage, []);
    assert.deepEqual(
      requests.map(({ request, end }) => [request.url, end?.tookMs]),
      numbers.map((n) => [requestOf(n).url, n]),
    );
  }));

test('packed, a request takes few bytes', () =>
  inFolder(async (dir) => {
    const ledger = open(dir);
    for (let n = 0; n < 5_000; n++)
      ledger.ended({
        number: ledger.sending(
          requestOf(n, {
            site: `s${n % 300}.example`,
            url: `https://www.s${n % 300}.example/articles/${n * 7919}.html`,
          }),
        ),
        tookMs: 100 + (n % 97),
        answeredMs: n % 89,
        result: '200',
      });
    await ledger.close();
    const bytes = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    assert.ok(bytes / 5_000 < 30, `${bytes / 5_000} bytes a request`);
  }));

test('what a killed run left is packed by the next one, torn or whole, and counted once', () =>
  inFolder(async (dir) => {
    open(dir).sending(requestOf(0));
    open(dir, { thread: 'fetch-2' }).sending(requestOf(1));
    appendFileSync(rawFile(dir), 'c\t5\t1\tp');
    writeFileSync(join(dir, 'x.notes.zst.new'), 'half');
    const raw = leftoversIn(dir);
    assert.equal(raw.length, 2);
    assert.ok(!existsSync(join(dir, 'x.notes.zst.new')));
    // A kill between the two steps of packing leaves the raw file beside the packed one.
    copyFileSync(raw[0]!, join(dir, 'kept'));
    await packFile(raw[0]!);
    copyFileSync(join(dir, 'kept'), raw[0]!);
    const both = read(dir);
    assert.deepEqual(
      [both.requests.map(({ request }) => request.url), both.damage],
      [[requestOf(0).url, requestOf(1).url], []],
    );
    await packAll(leftoversIn(dir), new AbortController().signal);
    assert.deepEqual(leftoversIn(dir), []);
    assert.deepEqual(read(dir), both);
  }));

test('a file that is damaged or missing is named, and the others are read', () =>
  inFolder(async (dir) => {
    const ledger = open(dir, { fileBytesMax: 500 });
    for (let n = 0; n < 12; n++) ledger.sending(requestOf(n));
    await ledger.close();
    open(dir, { thread: 'fetch-2' }).sending(requestOf(20));
    const raw = rawFile(dir);
    const good = readFileSync(raw, 'latin1');
    const names = readdirSync(dir)
      .filter((name) => name.endsWith('.zst'))
      .toSorted();
    const all = read(dir).requests.length;

    writeFileSync(raw, good.replace('\nc\t', '\nc\tx'));
    assert.match(read(dir).damage.join(), /^\S+fetch-2-000000 of the ledger cannot be read from line 2 on$/);
    assert.equal(read(dir).requests.length, all - 1);
    writeFileSync(raw, `no head\n${good}`);
    assert.match(read(dir).damage.join(), /fetch-2-000000 of the ledger does not begin as a ledger/);
    writeFileSync(raw, good);

    writeFileSync(join(dir, names[1]!), 'not packed at all');
    assert.match(read(dir).damage.join(), /fetch-1-000001 of the ledger cannot be read: /);
    rmSync(join(dir, names[1]!));
    assert.match(
      read(dir).damage.join(),
      /fetch-1-000002 of the ledger begins with request \d+, not \d+: what was before it is missing/,
    );
    assert.ok(read(dir).requests.some(({ request }) => request.url === requestOf(11).url));
  }));

test('a request that cannot be noted is refused, and all after it', () =>
  inFolder((home) => {
    const dir = join(home, 'ledger');
    writeFileSync(dir, 'a file where the folder should be');
    const ledger = open(dir);
    assert.throws(
      () => ledger.sending(requestOf(0)),
      (error: unknown) =>
        error instanceof LedgerFault &&
        /cannot be noted in the ledger: .*EEXIST/.test(error.message) &&
        /resume/.test(error.advice),
    );
    rmSync(dir);
    mkdirSync(dir);
    assert.throws(() => ledger.sending(requestOf(1)), LedgerFault);
    return ledger.close();
  }));
