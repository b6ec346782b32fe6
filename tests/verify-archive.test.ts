/** Damaged bytes in an archive are filled, so that every reader comes to its end; reading leaves nothing behind. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync, gzipSync } from 'node:zlib';
import { WARCParser } from 'warcio';
import { FILLER_BYTES_MIN, fillers } from '../src/archive/filler.ts';
import { packMember, unpackMember } from '../src/archive/member.ts';
import { readRecordAt, readRecords } from '../src/archive/reader.ts';
import { fillDead } from '../src/care/verify/fill.ts';
import { placedPages } from '../src/care/verify/placed.ts';
import { writeCount } from '../src/lib/units.ts';
import { lookAt } from './support/sqlite-place.ts';
import { PATIENCE_MS } from './support/until.ts';
import {
  assertGoesOn,
  assertRepairs,
  makeScene,
  namedIn,
  type Scene,
  type StoredPage,
} from './support/verify-scene.ts';

const dir = mkdtempSync(join(tmpdir(), 'gossamer-filler-'));
const { open, remove } = await makeScene();
after(() => {
  rmSync(dir, { recursive: true });
  remove();
});

const FILE = 'gossamer-20261115204500-00000.warc.gz';
const KIB = 1024;
const from = (start: number, count: number): number[] => Array.from({ length: count }, (_, i) => start + i);

test('a filler has any length that is asked for, also where the digits of its Content-Length or its blocks grow', () => {
  for (const bytes of [
    ...from(FILLER_BYTES_MIN, 1_200),
    ...from(10_200, 100),
    ...from(65_500, 400),
    ...from(100_200, 100),
    ...from(1_000_300, 60),
    3_500_001,
  ]) {
    let end = 0;
    for (const made of fillers(bytes, FILE)) {
      const unpacked = unpackMember(Buffer.from(made.buffer, made.byteOffset, made.length));
      assert.ok(unpacked.kind === 'whole' && unpacked.length === made.length);
      const [head, block] = unpacked.raw.toString('latin1').split(/\r\n\r\n/) as [string, string];
      assert.match(head, new RegExp(`\r\nWARC-Date: 2026-11-15T20:45:00Z\r\n[^]*\r\nContent-Length: ${block.length}$`));
      end += made.length;
    }
    assert.equal(end, bytes);
  }
  assert.throws(() => [...fillers(FILLER_BYTES_MIN - 1, FILE)], /too few/);
});

test('an independent reader and gzip itself pass over fillers of every size', async () => {
  const sizes = [FILLER_BYTES_MIN, 300, 1_000, 65_563, 65_564, 200_000, 2_500_000];
  const page = packMember(
    Buffer.from(
      'WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-11-15T20:45:00Z\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 2\r\n\r\nok\r\n\r\n',
    ),
    false,
  );
  const path = join(dir, 'between.warc.gz');
  writeFileSync(path, Buffer.concat(sizes.flatMap((bytes) => [page, ...fillers(bytes, FILE)])));
  gunzipSync(readFileSync(path));
  const types = (await readByOthers(path)).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'resource').length, sizes.length);
  assert.equal(types.filter((type) => type === 'metadata').length, sizes.length - 1 + 3); // the last is in three pieces
});

/** As an independent reader sees a file; made pages have requests that it does not read as HTTP. */
const readByOthers = async (path: string): Promise<{ type: string | null; offset: number; length: number }[]> => {
  const records = [];
  const parser = new WARCParser(createReadStream(path), { parseHttp: false });
  for await (const record of parser) {
    await record.readFully(false);
    await parser.readToNextRecord(); // from here on its offset is the end of the record
    records.push({ type: record.warcType, offset: parser.offset - parser.recordLength, length: parser.recordLength });
  }
  return records;
};

const readByUs = (path: string): { type: string | null; offset: number; length: number }[] =>
  [...readRecords(path)].map(({ headers, offset, length }) => ({ type: headers['warc-type'] ?? null, offset, length }));

const assertReadByAll = async (scene: Scene): Promise<void> => {
  for (const file of scene.files()) assert.deepEqual(await readByOthers(scene.path(file)), readByUs(scene.path(file)));
};

test('a damaged record stops other readers; after the repair they read every file to its end', () =>
  open(async (scene) => {
    const damaged = scene
      .files()
      .slice(1, 4)
      .map((file) => scene.pageIn(file));
    const { warc_file: first, warc_offset: firstAt } = damaged[0]!;
    const after = readByUs(scene.path(first)).filter(({ offset }) => offset > firstAt);
    // the length of its block: not all readers look at checksums
    for (const { warc_file, warc_offset } of damaged) scene.flip(warc_file, warc_offset + 11);
    assert.ok(after.length > 10);
    assert.deepEqual(
      (await readByOthers(scene.path(first))).filter(({ offset }) => offset > firstAt),
      [],
    ); // it ends there, without a word
    const sizes = scene.files().map((file) => readFileSync(scene.path(file)).length);
    const { repaired } = await scene.verify(true);
    assert.ok(
      repaired?.includes('3 damaged stretches were filled, so that other readers pass over them'),
      String(repaired),
    );
    await assertReadByAll(scene);
    for (const { warc_file, warc_offset, warc_group_length } of damaged) {
      assert.deepEqual(
        readByUs(scene.path(warc_file)).filter(({ type }) => type === 'metadata'),
        [{ type: 'metadata', offset: warc_offset, length: warc_group_length }],
      );
    }
    assert.deepEqual(
      scene.files().map((file) => readFileSync(scene.path(file)).length),
      sizes,
    );
    await assertGoesOn(scene);
    await assertReadByAll(scene);
  }));

const HALF: Readonly<Record<string, (damaged: Buffer, filled: Buffer, at: number) => Buffer>> = {
  'before it filled anything': (damaged) => damaged,
  'in the middle of a filler': (damaged, filled, at) => Buffer.concat([filled.subarray(0, at), damaged.subarray(at)]),
};

for (const [when, left] of Object.entries(HALF)) {
  test(`a repair that was killed ${when} is named and made again`, () =>
    open(async (scene) => {
      const { warc_file: file, warc_offset: offset, warc_group_length: groupLength } = scene.pageIn(scene.files()[1]!);
      scene.flip(file, offset + 100);
      const damaged = readFileSync(scene.path(file));
      await scene.verify(true);
      writeFileSync(scene.path(file), left(damaged, readFileSync(scene.path(file)), offset + 90));
      assert.deepEqual(namedIn(await scene.verify()), [
        `${file} offset ${offset}: ${writeCount(groupLength)} bytes that are listed in dead-records.txt cannot be read, and stop other readers`,
      ]);
      assert.deepEqual((await assertRepairs(scene)).repaired, [
        '1 damaged stretch was filled, so that other readers pass over it',
      ]);
      await assertReadByAll(scene);
    }));
}

test('a stretch that is too short for a filler is listed and left', () =>
  open(async (scene) => {
    const file = scene.files()[2]!;
    const { warc_offset: offset } = scene.pageIn(file);
    truncateSync(scene.path(file), offset + FILLER_BYTES_MIN - 1);
    const before = readFileSync(scene.path(file));
    const { repaired } = await assertRepairs(scene);
    assert.ok(!repaired?.some((did) => did.includes('filled')), String(repaired));
    assert.deepEqual(readFileSync(scene.path(file)), before);
  }));

test('what a page points to is never written over, whatever the list says', () =>
  open(async (scene) => {
    const { warc_file: file, warc_offset: offset, warc_group_length: groupLength } = scene.pageIn(scene.files()[1]!);
    scene.flip(file, offset + 100);
    const before = readFileSync(scene.path(file));
    const filled = (from: number, to: number): Promise<number> =>
      lookAt(scene.dir, (crawl) =>
        fillDead(join(scene.dir, 'warc'), () => placedPages(crawl, true), [
          { file, offset: from, bytes: to - from, why: 'test' },
        ]),
      );
    assert.equal(await filled(offset, offset + groupLength), 0);
    assert.equal(await filled(offset - 300, offset + 1), 0);
    assert.equal(await filled(offset + groupLength - 1, offset + groupLength + 300), 0);
    assert.deepEqual(readFileSync(scene.path(file)), before);
    scene.sql('DELETE FROM page WHERE warc_file = ? AND warc_offset = ?', file, offset);
    assert.equal(await filled(offset, offset + groupLength), 1);
  }));

test('what was listed after the new end of the archive is off the list: new records will lie there', () =>
  open(async (scene) => {
    const file = scene.files().at(-1)!;
    const [, , early, , late] = scene.sql(
      "SELECT * FROM page WHERE warc_file = ? AND digest <> '' ORDER BY warc_offset",
      file,
    ) as StoredPage[];
    scene.flip(file, late!.warc_offset + 100);
    await scene.verify(true);
    truncateSync(scene.path(file), early!.warc_offset + 100);
    await assertRepairs(scene);
    assert.doesNotMatch(
      readFileSync(join(scene.dir, 'dead-records.txt'), 'utf8'),
      new RegExp(`\t${late!.warc_offset}\t`),
    );
  }));

test('without the list, a filler is known by what it says', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.flip(page.warc_file, page.warc_offset + 100);
    await scene.verify(true);
    rmSync(join(scene.dir, 'dead-records.txt'));
    await assertGoesOn(scene);
  }));

test('members that are stored, packed, or partly both read back as they were', () => {
  const noise = Buffer.concat(from(0, 4_000).map((n) => createHash('sha512').update(String(n)).digest()));
  for (const raw of [
    Buffer.alloc(0),
    Buffer.from('one'),
    Buffer.alloc(65_535, 'a'),
    noise.subarray(0, 65_536),
    noise,
    Buffer.concat([noise, Buffer.alloc(100_000, 'words ')]),
  ]) {
    for (const member of [
      Buffer.from(packMember(raw, true)),
      Buffer.from(gzipSync(raw)),
      Buffer.from(gzipSync(raw, { level: 0 })),
    ]) {
      member[9] = 0xff; // the system, which Node names and we do not
      const unpacked = unpackMember(Buffer.concat([member, member]));
      assert.ok(unpacked.kind === 'whole' && unpacked.length === member.length && unpacked.raw.equals(raw));
      for (const cut of [0, 9, 12, 14, member.length >>> 1, member.length - 9, member.length - 1])
        assert.equal(unpackMember(member.subarray(0, cut)).kind, 'short', `cut at ${cut}`);
    }
  }
});

test('a record that is longer than what was read at first leaves no memory behind, though the event loop never turns', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const hex = Buffer.concat(from(0, 1_200).map((n) => createHash('sha512').update(String(n)).digest())).toString('hex');
  const member = packMember(Buffer.from(`WARC/1.1\r\nContent-Length: ${hex.length}\r\n\r\n${hex}\r\n\r\n`), false);
  assert.ok(member.length > 64 * KIB);
  const path = join(dir, 'long.warc.gz');
  writeFileSync(path, member);
  const heldBytes = (): number => (collect(), process.memoryUsage().arrayBuffers);
  readRecordAt(path, 0);
  const before = heldBytes();
  for (let n = 0; n < 400; n++) assert.equal(readRecordAt(path, 0).block.length, hex.length);
  // Memory is given back by another thread, some time after a collection: it is waited for without a turn of the loop.
  const room = new Int32Array(new SharedArrayBuffer(4));
  const giveUpAt = performance.now() + PATIENCE_MS;
  const keptBytesMax = 200 * 64 * KIB; // what zlib would hold for half of them
  while (heldBytes() - before >= keptBytesMax && performance.now() < giveUpAt) Atomics.wait(room, 0, 0, 10);
  const keptBytes = heldBytes() - before;
  assert.ok(keptBytes < keptBytesMax, `${keptBytes} bytes are held`);
});
