/** Which warcinfo record describes a record: each names it, and it is there, whatever was rolled, cut or resumed. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Archive } from '../src/archive/archive.ts';
import { openArchive } from '../src/archive/files.ts';
import { readRecords, type WarcRecord } from '../src/archive/reader.ts';
import { newRecordId, recordGroup, warcinfoRecord } from '../src/archive/records.ts';
import type { ArchiveEnd } from '../src/model/census.ts';
import { answered } from './support/archive-scene.ts';

const root = mkdtempSync(join(tmpdir(), 'gossamer-warcinfo-'));
after(() => rmSync(root, { recursive: true }));

const NOTHING: ArchiveEnd = { file: '', bytes: 0 };

interface Run {
  readonly archive: Archive;
  readonly id: string;
  /** A response and its request, as this run makes them. */
  readonly group: () => Uint8Array;
}

/** What a process that opens the archive does: its records name a warcinfo record of its own. */
const startRun = (dir: string, settled: ArchiveEnd = NOTHING, fileBytesMax = 1_000_000): Run => {
  const id = newRecordId();
  const archive = openArchive({
    dir,
    settled,
    fileBytesMax,
    warcinfoId: id,
    stamp: () => '20261115204500',
    warcinfo: (fileName, own) =>
      warcinfoRecord({
        id: own,
        software: 'Gossamer/0.2.0',
        fileName,
        at: 0,
        operator: 'you@example.org',
        userAgent: 'Gossamer',
        robots: 'classic',
        tlsVerification: 'none',
      }),
  });
  const group = (): Uint8Array =>
    recordGroup({ robots: [], page: answered(), text: null, keep: 'all', warcinfoId: id }).bytes;
  return { archive, id, group };
};

const newDir = (): string => join(mkdtempSync(join(root, 'crawl-')), 'warc');
const filesIn = (dir: string): WarcRecord[][] =>
  readdirSync(dir)
    .toSorted()
    .map((name) => [...readRecords(join(dir, name))]);

const idOf = ({ headers }: WarcRecord): string => headers['warc-record-id']!;
const isWarcinfo = ({ headers }: WarcRecord): boolean => headers['warc-type'] === 'warcinfo';

/** No id is there twice, files begin with warcinfo records, and what a record names was written before it. */
const assertDescribed = (dir: string): void => {
  const known = new Set<string>();
  const ids = new Set<string>();
  for (const records of filesIn(dir)) {
    assert.ok(isWarcinfo(records[0]!));
    for (const record of records) {
      assert.ok(!ids.has(idOf(record)), `${idOf(record)} is there twice`);
      ids.add(idOf(record));
      if (isWarcinfo(record)) known.add(idOf(record));
      else assert.ok(known.has(record.headers['warc-warcinfo-id'] ?? ''), 'it names a record that is not there');
    }
  }
};

/** `i` for a warcinfo record, `.` for any other, file by file. */
const shapeOf = (dir: string): string[] =>
  filesIn(dir).map((records) => records.map((record) => (isWarcinfo(record) ? 'i' : '.')).join(''));

test('the records of a run name the warcinfo record that opens its first file', () => {
  const dir = newDir();
  const { archive, id, group } = startRun(dir);
  archive.append([group(), group()]);
  archive.append([group()]);
  archive.close();
  const [records] = filesIn(dir) as [WarcRecord[]];
  assert.equal(idOf(records[0]!), id);
  assert.deepEqual(new Set(records.slice(1).map(({ headers }) => headers['warc-warcinfo-id'])), new Set([id]));
  assert.deepEqual(shapeOf(dir), ['i......']);
  assertDescribed(dir);
});

test('a run that goes on in a file of an earlier run says first who it is, also for places in the file', () => {
  const dir = newDir();
  const first = startRun(dir);
  first.archive.append([first.group()]);
  const end = first.archive.end();
  first.archive.close();
  const second = startRun(dir, end);
  const [place] = second.archive.append([second.group()]);
  second.archive.close();
  assert.deepEqual(shapeOf(dir), ['i..i..']);
  assertDescribed(dir);
  const records = filesIn(dir)[0]!;
  assert.deepEqual([idOf(records[3]!), records[3]!.offset], [second.id, end.bytes]);
  assert.equal(place?.offset, records[4]!.offset);
  assert.equal(records[4]!.headers['warc-warcinfo-id'], second.id);
});

test('a run that writes nothing leaves nothing', () => {
  const dir = newDir();
  const first = startRun(dir);
  first.archive.append([first.group()]);
  const end = first.archive.end();
  first.archive.close();
  startRun(dir, end).archive.close();
  assert.deepEqual(shapeOf(dir), ['i..']);
});

test('every further file of a run has a warcinfo record with an id of its own', () => {
  const dir = newDir();
  const { archive, group } = startRun(dir, NOTHING, 1_500);
  for (let i = 0; i < 6; i++) archive.append([group()]);
  const end = archive.end();
  archive.close();
  assert.ok(shapeOf(dir).length > 1);
  assertDescribed(dir);
  const next = startRun(dir, end, 1_500);
  for (let i = 0; i < 6; i++) next.archive.append([next.group()]);
  next.archive.close();
  assertDescribed(dir);
});

test('when the warcinfo record of a run is cut with what was not settled, it is written again', () => {
  const dir = newDir();
  const first = startRun(dir);
  first.archive.append([first.group()]);
  const end = first.archive.end();
  first.archive.close();
  const { archive, group } = startRun(dir, end);
  for (let i = 0; i < 3; i++) {
    archive.append([group()]);
    archive.cut(end);
  }
  archive.append([group()]);
  const settled = archive.end();
  archive.append([group()]);
  archive.cut(settled); // this one leaves it
  archive.append([group()]);
  archive.close();
  assert.deepEqual(shapeOf(dir), ['i..i....']);
  assertDescribed(dir);
});

test('a file that was begun for the run and is cut whole, is begun again with the same warcinfo record', () => {
  const dir = newDir();
  const { archive, group } = startRun(dir);
  archive.append([group()]);
  archive.cut(NOTHING);
  archive.append([group()]);
  archive.close();
  assert.deepEqual(shapeOf(dir), ['i..']);
  assertDescribed(dir);
});

test('a killed run: its unsettled end goes, and the records of the next name their own', () => {
  const dir = newDir();
  const first = startRun(dir);
  first.archive.append([first.group()]);
  const settled = first.archive.end();
  const killed = startRun(dir, settled);
  killed.archive.append([killed.group(), killed.group()]); // never settled, never closed
  const next = startRun(dir, settled);
  next.archive.append([next.group()]);
  next.archive.close();
  assert.deepEqual(shapeOf(dir), ['i..i..']);
  assertDescribed(dir);
  assert.ok(!filesIn(dir)[0]!.some((record) => idOf(record) === killed.id));
});
