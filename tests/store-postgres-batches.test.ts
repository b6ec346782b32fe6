/** What a member remembers of its batches of settlements, for a store that may forget them. */

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openBatchLog, type LoggedBatch } from '../src/store/postgres/batch-log.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'gossamer-batches-'))));
afterEach(() => rmSync(dir, { recursive: true }));

const batchOf = (number: number): LoggedBatch => ({
  number,
  end: { file: 'a.warc.gz', bytes: 100 * number },
  records: [{ file: 'a.warc.gz', offset: 100 * (number - 1), bytes: 100 }],
});
const numbersOf = (batches: readonly LoggedBatch[] | null): number[] | undefined =>
  batches?.map(({ number }) => number);

test('batches and answers are there again when the log is opened anew, and a batch without an answer is known as one', () => {
  const log = openBatchLog(dir, 'crawl');
  for (const number of [1, 2, 3]) {
    log.add(batchOf(number));
    if (number < 3) log.answer(number);
  }
  const again = openBatchLog(dir, 'crawl');
  assert.equal(again.answered(), 2);
  assert.deepEqual(again.after(1), [batchOf(2), batchOf(3)]);
  assert.deepEqual(again.after(3), []);
});

test('a batch that was refused is tried again under its number, and what is left is the last try', () => {
  const log = openBatchLog(dir, 'crawl');
  log.add(batchOf(1));
  log.add({ ...batchOf(1), records: [] });
  assert.deepEqual(openBatchLog(dir, 'crawl').after(0), [{ ...batchOf(1), records: [] }]);
});

test('the log of another crawl is dropped, and so is a line that was half written', () => {
  const log = openBatchLog(dir, 'crawl');
  log.add(batchOf(1));
  log.answer(1);
  appendFileSync(join(dir, 'batches.log'), '{"number":2,"en');
  const again = openBatchLog(dir, 'crawl');
  assert.deepEqual([numbersOf(again.after(0)), again.answered()], [[1], 1]);
  const other = openBatchLog(dir, 'another');
  assert.deepEqual([other.after(0), other.answered()], [[], 0]);
});

test('the log stays short: the newest batches are kept with the last answer, and older ones are known to be missing', () => {
  const log = openBatchLog(dir, 'crawl', 10);
  for (let number = 1; number <= 500; number++) {
    log.add(batchOf(number));
    log.answer(number);
  }
  for (const opened of [log, openBatchLog(dir, 'crawl', 10)]) {
    assert.deepEqual(numbersOf(opened.after(495)), [496, 497, 498, 499, 500]);
    assert.equal(opened.after(3), null);
    assert.equal(opened.answered(), 500);
  }
  assert.ok(readFileSync(join(dir, 'batches.log'), 'utf8').split('\n').length <= 50);
});
