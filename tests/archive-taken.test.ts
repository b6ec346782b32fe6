/** The file that records are appended to, when somebody else takes it away or cuts it meanwhile. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, renameSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ArchiveFault, type Archive } from '../src/archive/archive.ts';
import { openArchive } from '../src/archive/files.ts';
import { readRecords } from '../src/archive/reader.ts';
import { recordGroup, warcinfoRecord } from '../src/archive/records.ts';
import type { ArchiveEnd } from '../src/model/census.ts';
import { answered } from './support/archive-scene.ts';

const root = mkdtempSync(join(tmpdir(), 'gossamer-taken-'));
after(() => rmSync(root, { recursive: true }));

const nameOf = (serial: number): string => `gossamer-20261115204500-0000${serial}.warc.gz`;
const newDir = (): string => join(mkdtempSync(join(root, 'crawl-')), 'warc');

const open = (dir: string, settled: ArchiveEnd = { file: '', bytes: 0 }): Archive =>
  openArchive({
    dir,
    settled,
    stamp: () => '20261115204500',
    warcinfo: (fileName) =>
      warcinfoRecord({
        software: 'test',
        fileName,
        at: 0,
        operator: 'test',
        userAgent: 'test',
        robots: 'classic',
        tlsVerification: 'none',
      }),
  });

const group = (text: string): Uint8Array => recordGroup({ robots: [], page: answered(), text, keep: 'all' }).bytes;

const textsIn = (path: string): string[] =>
  [...readRecords(path)].flatMap(({ headers, block }) =>
    headers['warc-type'] === 'conversion' ? [block.toString()] : [],
  );

/** What somebody else can do to the file that records are appended to. */
const TAKEN: Readonly<Record<string, { take: (path: string) => void; says: RegExp; after?: (path: string) => void }>> =
  {
    deleted: { take: unlinkSync, says: /was deleted or moved away/ },
    'moved away': {
      take: (path) => renameSync(path, `${path}.elsewhere`),
      says: /was deleted or moved away/,
      after: (path) => renameSync(`${path}.elsewhere`, path),
    },
    'replaced by another': {
      take: (path) => (writeFileSync(`${path}.other`, 'another'), renameSync(`${path}.other`, path)),
      says: /was deleted or moved away/,
    },
    emptied: { take: (path) => truncateSync(path, 0), says: /was cut to 0 bytes, of \d+/ },
    'cut in the middle': { take: (path) => truncateSync(path, 300), says: /was cut to 300 bytes, of \d+/ },
  };

for (const [how, { take, says, after: putBack }] of Object.entries(TAKEN)) {
  test(`a file that is ${how} while it is filled takes no record more, and is not made anew`, () => {
    const dir = newDir();
    const path = join(dir, nameOf(0));
    const archive = open(dir);
    archive.append([group('one')]);
    const settled = archive.end();
    take(path);
    const isLost = (error: unknown): boolean =>
      error instanceof ArchiveFault && says.test(error.message) && /verify --repair/.test(error.advice);
    assert.throws(() => archive.append([group('two')]), isLost);
    assert.throws(() => archive.cut(settled), isLost, 'the first cause is told, whoever asks');
    assert.throws(() => archive.append([group('three')]), isLost);
    assert.equal(existsSync(join(dir, nameOf(1))), false);
    archive.close();
    if (putBack === undefined) return;
    putBack(path);
    const again = open(dir, settled);
    again.append([group('four')]);
    again.close();
    assert.deepEqual(textsIn(path), ['one', 'four'], 'put back, it is whole');
  });
}

test('a file that is taken away after the last record is noticed before it counts as on disk', () => {
  for (const end of ['sync', 'close'] as const) {
    const dir = newDir();
    const archive = open(dir);
    archive.append([group('one')]);
    unlinkSync(join(dir, nameOf(0)));
    assert.throws(() => archive[end](), /was deleted or moved away/);
  }
});
