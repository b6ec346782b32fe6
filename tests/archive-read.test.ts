/** Records of an archive are read where they lie, alone and in order, and damage is named. */

import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ArchiveFault } from '../src/archive/archive.ts';
import { readRecordAt, readRecords, splitHttp, type WarcRecord } from '../src/archive/reader.ts';
import { recordGroup } from '../src/archive/records.ts';
import { answered, bytes, dir, noise, saved, types } from './support/archive-scene.ts';

test('one record is read at its place, and records between two places', () => {
  const big = recordGroup({ robots: [], page: answered({ body: bytes(noise(700_000)) }), text: 'big', keep: 'all' });
  const small = recordGroup({ robots: [], page: answered(), text: 'small', keep: 'all' });
  const path = saved(small.bytes, big.bytes, small.bytes);
  const at = small.bytes.length;
  assert.equal(splitHttp(readRecordAt(path, at).block).body.length, 700_000);
  assert.equal(readRecordAt(path, at).length, big.pageLength);
  const between = [...readRecords(path, at, at + big.bytes.length)];
  assert.deepEqual(types(between), ['response', 'request', 'conversion']);
  assert.equal(between[2]?.block.toString(), 'big');
});

test('damage is named with its file and offset', () => {
  const group = recordGroup({
    robots: [],
    page: answered({ body: bytes(noise(900).toString('hex')) }),
    text: null,
    keep: 'all',
  });
  const fault =
    (path: string, offset: number) =>
    (error: unknown): boolean =>
      error instanceof ArchiveFault &&
      error.message.includes(path) &&
      error.message.includes(`offset ${offset} `) &&
      error.advice !== '';
  const drained = (path: string): void => void [...readRecords(path)];

  const half = saved(group.bytes, group.bytes);
  truncateSync(half, group.bytes.length + group.pageLength - 3);
  assert.throws(() => drained(half), fault(half, group.bytes.length));
  assert.throws(() => drained(half), /not whole where the archive ends/);
  assert.throws(() => drained(saved(bytes('WARC/1.1 but not packed'))), ArchiveFault);
  const whole = [...readRecords(saved(group.bytes))];
  let harmless = 0;
  for (let at = 10; at < group.pageLength; at += 7) {
    const copy = group.bytes.slice();
    copy[at] = (copy[at] as number) ^ 0x10;
    const flipped = saved(copy);
    try {
      // a few bits mean nothing, such as those that fill up the last byte: then all is as it was
      assert.deepEqual(
        [...readRecords(flipped)].map((record) => record.block),
        whole.map((record) => record.block),
      );
      harmless++;
    } catch (error) {
      assert.ok(fault(flipped, 0)(error), `a flipped bit at ${at}: ${String(error)}`);
    }
  }
  assert.ok(harmless < 5);
  const foreign = saved(gzipSync('WARC/1.1\r\nContent-Length: 3\r\n\r\nfour\r\n\r\n'));
  assert.throws(() => readRecordAt(foreign, 0), fault(foreign, 0));
  assert.throws(() => readRecordAt(half, 10_000_000), fault(half, 10_000_000));
  assert.throws(() => readRecordAt(join(dir, 'none.warc.gz'), 0), /is not there/);
});

test('3,000 random groups read back in order, each at its place', () => {
  const seed = 20_261_115;
  const chance = randomFrom(seed);
  const upTo = (max: number): number => Math.floor(chance() * max);
  const inputs = Array.from({ length: 3_000 }, (_, index) => {
    const length = chance() < 0.02 ? upTo(200_000) : upTo(3_000);
    const body = chance() < 0.5 ? bytes(noise(length)) : bytes('<p>words</p>'.repeat(length / 12));
    const page = answered({ url: `https://example.org/${index}`, body, truncated: chance() < 0.1 ? 'time' : null });
    return {
      robots: Array.from({ length: chance() < 0.3 ? upTo(3) : 0 }, () =>
        answered({ url: 'https://example.org/robots.txt', body: bytes(noise(upTo(900))) }),
      ),
      page: chance() < 0.9 ? page : null,
      text: [null, '', 'text '.repeat(upTo(300))][upTo(3)] as string | null,
      keep: chance() < 0.8 ? ('all' as const) : ('text' as const),
    };
  });
  const groups = inputs.map((input) => recordGroup(input));
  const path = saved(...groups.map((group) => group.bytes));
  const reading = readRecords(path);
  const next = (): WarcRecord => reading.next().value as WarcRecord;
  let at = 0;
  for (const [index, input] of inputs.entries()) {
    const context = `seed ${seed}, group ${index}`;
    const group = groups[index] as ReturnType<typeof recordGroup>;
    for (const robots of input.robots) {
      assert.ok(splitHttp(next().block).body.equals(robots.body), context);
      assert.equal(next().headers['warc-type'], 'request', context);
    }
    const expected =
      input.page === null
        ? []
        : input.keep === 'text'
          ? ['conversion']
          : ['response', 'request', ...(input.text ? ['conversion'] : [])];
    const records = expected.map(() => next());
    assert.deepEqual(types(records), expected, context);
    const first = records[0];
    if (first !== undefined && input.page !== null) {
      assert.deepEqual(
        [first.offset, first.length, first.headers['warc-target-uri']],
        [at + group.pageAt, group.pageLength, input.page.url],
        context,
      );
      if (input.keep === 'all') assert.ok(splitHttp(first.block).body.equals(input.page.body), context);
      if (expected.includes('conversion')) assert.equal(records.at(-1)?.block.toString(), input.text ?? '', context);
    }
    if (index % 100 === 0 && first !== undefined) assert.deepEqual(readRecordAt(path, first.offset), first, context);
    at += group.bytes.length;
  }
  assert.equal(reading.next().done, true);
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
