/** The files of the archive: filled in order, rolled, and cut back to what is settled. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { ArchiveFault, type Archive } from '../src/archive/archive.ts';
import { openArchive, unwritten, type ArchiveOptions } from '../src/archive/files.ts';
import { readRecordAt, readRecords, splitHttp } from '../src/archive/reader.ts';
import { recordGroup, warcinfoRecord } from '../src/archive/records.ts';
import type { ArchiveEnd } from '../src/model/census.ts';

const root = mkdtempSync(join(tmpdir(), 'gossamer-files-'));
after(() => rmSync(root, { recursive: true }));

const NOTHING: ArchiveEnd = { file: '', bytes: 0 };
const nameOf = (serial: number): string => `gossamer-20261115204500-0000${serial}.warc.gz`;
const newDir = (): string => join(mkdtempSync(join(root, 'crawl-')), 'warc');

const open = (dir: string, change: Partial<ArchiveOptions> = {}): Archive =>
  openArchive({
    dir,
    settled: NOTHING,
    stamp: () => '20261115204500',
    warcinfo: (fileName) =>
      warcinfoRecord({
        software: 'Gossamer/0.1.0',
        fileName,
        at: 0,
        operator: 'you@example.org',
        userAgent: 'Gossamer',
        robots: 'classic',
        tlsVerification: 'none',
      }),
    ...change,
  });

/** A response, its request and its text: `label` is the body and the text. */
const group = (label: string): Uint8Array => {
  const body = new Uint8Array(Buffer.from(label));
  return recordGroup({
    robots: [],
    text: label,
    keep: 'all',
    page: {
      kind: 'answered',
      url: `https://example.org/${label.slice(0, 20)}`,
      startedAt: 0,
      answeredAt: 0,
      endedAt: 0,
      address: '192.0.2.1',
      requestHead: 'GET / HTTP/1.1\r\n\r\n',
      head: 'HTTP/1.1 200 OK\r\n\r\n',
      status: 200,
      headers: {},
      body,
      truncated: null,
    },
  }).bytes;
};

/** What all files together hold, file by file; reading them proves that nothing is damaged. */
const contents = (dir: string): string[] =>
  readdirSync(dir)
    .sort()
    .flatMap((name) =>
      [...readRecords(join(dir, name))].flatMap((record) => {
        if (record.headers['warc-type'] === 'warcinfo') return [`<${record.headers['warc-filename']}>`];
        return record.headers['warc-type'] === 'conversion' ? [record.block.toString()] : [];
      }),
    );

const bodyAt = (dir: string, place: { file: string; offset: number } | undefined): string =>
  place === undefined ? '' : splitHttp(readRecordAt(join(dir, place.file), place.offset).block).body.toString();

test('no file is made before the first record, and each file begins with a warcinfo record', () => {
  const dir = newDir();
  const archive = open(dir);
  assert.equal(existsSync(dir), false);
  assert.deepEqual(archive.end(), NOTHING);
  assert.deepEqual(archive.append([]), []);
  assert.equal(existsSync(dir), false);
  const places = archive.append([group('one'), group('two')]);
  archive.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one', 'two']);
  assert.deepEqual(
    places.map((place) => bodyAt(dir, place)),
    ['one', 'two'],
  );
  assert.deepEqual(archive.end(), { file: nameOf(0), bytes: statSync(join(dir, nameOf(0))).size });
});

test('a file is left for the next when a record would pass its ceiling, and no record is split', () => {
  const dir = newDir();
  const one = group('one').length;
  const opening = warcinfoLength();
  // Record ids are random, and pack to a few bytes more or less.
  const archive = open(dir, { fileBytesMax: Math.floor(opening + 2.5 * one) });
  const labels = ['one', 'two', 'six', 'ten', 'far'];
  const places = archive.append(labels.map(group));
  assert.deepEqual(
    places.map((place) => place.file),
    [0, 0, 1, 1, 2].map(nameOf),
  );
  assert.deepEqual(
    places.map((place) => bodyAt(dir, place)),
    labels,
  );
  const [huge] = archive.append([group(noiseText(7))]);
  assert.deepEqual([huge?.file, huge?.offset], [nameOf(3), opening]);
  archive.append([group('end')]);
  archive.close();
  assert.deepEqual(contents(dir), [
    `<${nameOf(0)}>`,
    'one',
    'two',
    `<${nameOf(1)}>`,
    'six',
    'ten',
    `<${nameOf(2)}>`,
    'far',
    `<${nameOf(3)}>`,
    noiseText(7),
    `<${nameOf(4)}>`,
    'end',
  ]);
});

test('an archive goes on where it was settled', () => {
  const dir = newDir();
  const first = open(dir);
  first.append([group('one')]);
  const settled = first.end();
  first.close();
  const again = open(dir, { settled });
  assert.deepEqual(again.end(), settled);
  const [place] = again.append([group('two')]);
  assert.deepEqual(place, { file: settled.file, offset: settled.bytes });
  again.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one', 'two']);
});

test('what was appended and never settled is cut when the archive is opened', () => {
  const crashes: Record<string, (dir: string, archive: Archive) => void> = {
    'whole records': (_, archive) => void archive.append([group('lost'), group('lost too')]),
    'half a record': (dir) => appendFileSync(join(dir, nameOf(0)), group('lost').subarray(0, 99)),
    'whole new files': (_, archive) => void archive.append(Array.from({ length: 9 }, () => group('lost '.repeat(300)))),
    'a new file, empty': (dir) => writeFileSync(join(dir, nameOf(1)), ''),
    'a new file with half its warcinfo': (dir) => writeFileSync(join(dir, nameOf(1)), group('lost').subarray(0, 50)),
    nothing: () => undefined,
  };
  for (const [what, crash] of Object.entries(crashes)) {
    const dir = newDir();
    const fileBytesMax = 4_000;
    const before = open(dir, { fileBytesMax });
    before.append([group('one')]);
    const settled = before.end();
    crash(dir, before);
    before.close();
    const after = open(dir, { settled, fileBytesMax });
    assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one'], what);
    after.append([group('two')]);
    after.close();
    assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one', 'two'], what);
  }
});

test('before anything is settled every file of ours is unsettled, and files of others are left alone', () => {
  const dir = newDir();
  const others = [
    'notes.txt',
    'other-20261115204500-00009.warc.gz',
    `${nameOf(7)}.part`,
    `my-${nameOf(7)}`,
    'gossamer-2026-00009.warc.gz',
  ];
  mkdirSync(dir);
  for (const name of others) writeFileSync(join(dir, name), 'mine');
  const before = open(dir, { fileBytesMax: 1 });
  before.append([group('lost'), group('lost')]);
  before.close();
  assert.equal(readdirSync(dir).length, others.length + 2);
  open(dir).close();
  assert.deepEqual(readdirSync(dir).sort(), [...others].sort());
});

test('files before the settled one are never touched, also past the serial 99999', () => {
  const dir = newDir();
  mkdirSync(dir);
  const settled = { file: 'gossamer-20261115204500-99999.warc.gz', bytes: 3 };
  const former = 'gossamer-20271115204500-00003.warc.gz';
  writeFileSync(join(dir, former), 'old');
  writeFileSync(join(dir, settled.file), 'abc');
  writeFileSync(join(dir, 'gossamer-20261115204500-100000.warc.gz'), 'lost');
  const archive = open(dir, { settled, fileBytesMax: 1 });
  assert.deepEqual(readdirSync(dir).sort(), [former, settled.file].sort());
  const [place] = archive.append([group('one')]);
  archive.close();
  assert.equal(place?.file, 'gossamer-20261115204500-100000.warc.gz');
});

test('a settled file that is missing or too short stops the opening, and nothing is changed', () => {
  const dir = newDir();
  const archive = open(dir);
  archive.append([group('one')]);
  const settled = archive.end();
  archive.close();
  writeFileSync(join(dir, nameOf(1)), 'later');
  const refused =
    (message: RegExp) =>
    (error: unknown): boolean =>
      error instanceof ArchiveFault && message.test(error.message) && error.advice.includes('resume');
  truncateSync(join(dir, nameOf(0)), settled.bytes - 1);
  assert.throws(() => open(dir, { settled }), refused(/has \d+ bytes, but \d+ were settled/));
  unlinkSync(join(dir, nameOf(0)));
  assert.throws(() => open(dir, { settled }), refused(/is missing, though its pages are settled/));
  assert.deepEqual(readdirSync(dir), [nameOf(1)]);
  assert.throws(() => open(dir, { settled: { file: '../crawl.db', bytes: 0 } }), /is not the name of an archive file/);
});

test('a cut forgets what came after, in the same file and across files', () => {
  const dir = newDir();
  const archive = open(dir, { fileBytesMax: 4_000 });
  const ends = [archive.end()];
  for (const label of ['one', 'two', noiseText(6), noiseText(10), 'far']) {
    archive.append([group(label)]);
    ends.push(archive.end());
  }
  assert.ok(new Set(ends.map((end) => end.file)).size > 2);
  const wanted = contents(dir);
  for (let count = 5; count >= 0; count--) {
    const end = ends[count] as ArchiveEnd;
    archive.cut(end);
    assert.deepEqual(archive.end(), end);
    const left = contents(dir);
    assert.deepEqual(left, wanted.slice(0, left.length));
    assert.equal(left.filter((label) => !label.startsWith('<')).length, count);
  }
  assert.deepEqual(readdirSync(dir), []);
  archive.append([group('new')]);
  archive.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'new']);
});

test('after a cut that failed nothing is appended until one goes well', () => {
  const dir = newDir();
  const archive = open(dir);
  archive.append([group('one')]);
  const end = archive.end();
  mkdirSync(join(dir, nameOf(1))); // a folder cannot be removed like a file
  assert.throws(() => archive.cut(end), /cannot be cut/);
  assert.throws(() => archive.append([group('two')]), ArchiveFault);
  rmSync(join(dir, nameOf(1)), { recursive: true });
  archive.cut(end);
  archive.append([group('two')]);
  archive.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one', 'two']);
});

test('an append that fails half-way has appended nothing, and the next one goes well', () => {
  const dir = newDir();
  let stamp = '20261115204500';
  const roomForTwo = Math.floor(warcinfoLength() + 2.5 * group('one').length);
  const archive = open(dir, { fileBytesMax: roomForTwo, stamp: () => stamp });
  archive.append([group('one')]);
  const before = archive.end();
  stamp = `no/${stamp}`;
  assert.throws(() => archive.append(Array.from({ length: 9 }, (_, index) => group(`lost ${index}`))), ArchiveFault);
  assert.deepEqual(archive.end(), before);
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one']);
  stamp = '20261115204500';
  archive.append([group('two'), group('six')]);
  archive.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one', 'two', `<${nameOf(1)}>`, 'six']);
  assert.throws(() => archive.append([group('late')]), /is closed/);
});

test('a full disk refuses a batch whole, names the cause, and takes records again once there is room', (t) => {
  const disk = mkdtempSync(join(root, 'disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
  if (mounted.status !== 0) return t.skip('a small disk cannot be mounted here');
  try {
    const dir = join(disk, 'warc');
    const archive = open(dir, { fileBytesMax: 100_000 });
    archive.append([group('one')]);
    const before = archive.end();
    const batch = Array.from({ length: 40 }, (_, index) => group(noiseText(index)));
    assert.throws(
      () => archive.append(batch),
      (error) =>
        error instanceof ArchiveFault &&
        error.code === 'ENOSPC' &&
        /ENOSPC/.test(error.message) &&
        /free space/.test(error.advice),
    );
    assert.deepEqual(archive.end(), before);
    assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, 'one']);
    archive.append([...batch.slice(0, 5), group('two')]);
    archive.close();
    assert.deepEqual(
      contents(dir).filter((label) => label.length < 50),
      [`<${nameOf(0)}>`, 'one', 'two'],
    );
  } finally {
    spawnSync('umount', ['-l', disk]);
  }
});

test('a batch of more parts than one write takes is written whole', () => {
  const dir = newDir();
  const archive = open(dir);
  const labels = Array.from({ length: 2_500 }, (_, index) => `page ${index}`);
  const places = archive.append(labels.map(group));
  archive.close();
  assert.deepEqual(contents(dir), [`<${nameOf(0)}>`, ...labels]);
  assert.equal(bodyAt(dir, places[2_499]), 'page 2499');
});

test('after a write that ended early exactly the rest is written', () => {
  const parts = ['ab', '', 'cde', 'f'].map((text) => new Uint8Array(Buffer.from(text)));
  for (let count = 0; count <= 6; count++) {
    const left = unwritten(parts, count);
    assert.equal(Buffer.concat(left).toString(), 'abcdef'.slice(count));
    assert.ok(left.every((part) => part.length > 0));
  }
});

function warcinfoLength(): number {
  const dir = newDir();
  const archive = open(dir);
  const [place] = archive.append([group('one')]);
  archive.close();
  return place?.offset ?? 0;
}

/** About 10 KB that hardly compress. */
function noiseText(seed: number): string {
  let state = seed + 1;
  let label = '';
  while (label.length < 10_000) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    label += state.toString(36);
  }
  return label;
}
