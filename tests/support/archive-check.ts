/** The archive of a crawl, read by our reader and by an independent one, which must agree. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WARCParser } from 'warcio';
import { readRecords, splitHttp } from '../../src/archive/reader.ts';

export interface Archived {
  readonly type: string;
  readonly url: string;
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  /** A request for robots.txt, not for a page. */
  readonly robots: boolean;
  /** As the record says, and checked against its payload. */
  readonly digest: string;
  /** What follows the HTTP head, or all of the block where there is none. */
  readonly payload: Buffer;
}

/** SHA-1 in base 32 by another road than ours. */
const digestOf = (bytes: Uint8Array): string => {
  const digits = BigInt(`0x${createHash('sha1').update(bytes).digest('hex')}`)
    .toString(32)
    .padStart(32, '0');
  return `sha1:${digits.replace(/./g, (digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(digit, 32)] as string)}`;
};

/** All records in order. Throws when a reader finds a fault, or the two differ. */
export const archivedIn = async (dir: string): Promise<Archived[]> => {
  const warc = join(dir, 'warc');
  if (!existsSync(warc)) return [];
  const all: Archived[] = [];
  const ids = new Set<string>();
  const described = new Set<string>();
  for (const file of readdirSync(warc).toSorted()) {
    assert.match(file, /\.warc\.gz$/);
    for (const { headers } of readRecords(join(warc, file))) assertDescribed(headers, ids, described);
    const ours = readByUs(join(warc, file), file);
    const theirs = await readByOthers(join(warc, file));
    assert.equal(ours.length, theirs.length);
    ours.forEach(({ type, url, offset, length, payload }, n) =>
      assert.deepEqual({ type, url, offset, length, bytes: digestOf(payload) }, theirs[n]),
    );
    all.push(...ours);
  }
  return all;
};

/** No id is there twice, and the warcinfo record that a record names was written before it. */
const assertDescribed = (headers: Readonly<Record<string, string>>, ids: Set<string>, described: Set<string>): void => {
  const id = headers['warc-record-id']!;
  assert.ok(!ids.has(id), `two records are ${id}`);
  ids.add(id);
  if (headers['warc-type'] === 'warcinfo') described.add(id);
  else if (headers['gossamer-kind'] !== 'filler')
    assert.ok(described.has(headers['warc-warcinfo-id']!), `${id} names no warcinfo record that is there`);
};

const readByUs = (path: string, file: string): Archived[] =>
  [...readRecords(path)].map(({ offset, length, headers, block }) => {
    const type = headers['warc-type'] ?? '';
    if (headers['warc-type'] === 'conversion') assert.equal(headers['warc-block-digest'], digestOf(block));
    const payload =
      type === 'response'
        ? Buffer.from(splitHttp(block).body)
        : type === 'request'
          ? Buffer.alloc(0)
          : Buffer.from(block);
    const digest = headers['warc-payload-digest'] ?? '';
    if (type === 'response') assert.equal(digest, digestOf(payload));
    return {
      type,
      url: headers['warc-target-uri'] ?? '',
      file,
      offset,
      length,
      robots: headers['gossamer-kind'] === 'robots',
      digest,
      payload,
    };
  });

const readByOthers = async (path: string): Promise<object[]> => {
  const records: object[] = [];
  const parser = new WARCParser(createReadStream(path));
  for await (const record of parser) {
    const payload = await record.readFully(false);
    await parser.readToNextRecord(); // from here on its offset is the end of the record
    records.push({
      type: record.warcType,
      url: record.warcTargetURI ?? '',
      offset: parser.offset - parser.recordLength,
      length: parser.recordLength,
      bytes: digestOf(record.warcType === 'request' ? new Uint8Array(0) : payload),
    });
  }
  return records;
};

/** The records of pages of one type, robots.txt left out, counted by URL. */
export const countByUrl = (records: readonly Archived[], type = 'response'): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const record of records) {
    if (record.type === type && !record.robots) counts.set(record.url, (counts.get(record.url) ?? 0) + 1);
  }
  return counts;
};

/** Every one of these pages is archived, no page twice. */
export const assertArchivedOnce = (records: readonly Archived[], wanted: Iterable<string>): void => {
  const counts = countByUrl(records);
  assert.deepEqual(
    [...counts].filter(([, count]) => count !== 1),
    [],
    'archived more than once',
  );
  assert.deepEqual(
    [...wanted].filter((url) => !counts.has(url)),
    [],
    'not archived',
  );
};
