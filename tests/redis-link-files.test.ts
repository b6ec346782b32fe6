/**
 * Waiting links in files: written in blocks, read one by one or together, and merged so that few references are left.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { FileLink } from '../src/store/redis/files/block.ts';
import { FILES_LIMITS } from '../src/store/redis/files/limits.ts';
import { filesIn, openLinkFiles } from '../src/store/redis/files/links.ts';
import {
  packTries,
  readReference,
  readTaken,
  triesOf,
  writeReference,
  type Reference,
} from '../src/store/redis/files/reference.ts';
import { chooseRun } from '../src/store/redis/files/rewrite.ts';
import { openLinkWriter, toBlocks } from '../src/store/redis/files/writer.ts';

let folder: string;
before(() => void (folder = mkdtempSync(join(tmpdir(), 'gossamer-links-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

const reference = (from: number, to: number, tries: Reference['tries'] = 0): Reference => ({
  file: 71,
  offset: 40_000_000,
  from,
  to,
  tries,
});

test('a reference is short, and reads back as it was written', () => {
  const all = [
    reference(0, 1),
    reference(5, 20_000, 3),
    reference(
      0,
      9,
      new Map([
        [2, 1],
        [7, 4],
      ]),
    ),
  ];
  assert.deepEqual(all.map(writeReference).map(readReference), all);
  assert.deepEqual(readTaken('1z ntc74 5 3'), reference(5, 6, 3));
  for (const none of ['', '1z ntc74 0', '1z ntc74 0 x', '\n0 0 0 0 https://a.example/1\n'])
    assert.deepEqual([readReference(none), readTaken(none)], [null, null]);
  assert.equal(writeReference(all[0]!), '1z ntc74 0 1');
  assert.deepEqual(
    [0, 2, 7].map((at) => triesOf(all[2]!, at)),
    [0, 1, 4],
  );
  assert.deepEqual([packTries([0, 0]), packTries([2, 2]), packTries([0, 2, 0])], [0, 2, new Map([[1, 2]])]);
});

const linkAt = (n: number): FileLink => ({
  text: `1 0 0 0 https://a.example/${'ü'.repeat(n % 40 === 0 ? 5_000 : n % 7)}/${n}`,
  via: n < 10 ? '' : `https://b.example/${Math.floor(n / 30)}`,
});

for (const count of [1, 2, 50, 3_000]) {
  test(`of a block of ${count} every link can be read alone, and any number of them together`, () => {
    const dir = join(folder, String(count));
    const writer = openLinkWriter(dir, 1, { fileBytesMax: 1_000 });
    const files = openLinkFiles(dir);
    const before = [linkAt(1)];
    const links = Array.from({ length: count }, (_, n) => linkAt(n));
    const {
      references: [, block],
    } = writer.append([before, links]);
    for (let n = 0; n < count; n++) assert.deepEqual(files.texts({ ...block!, from: n, to: n + 1 }), [links[n]]);
    for (const [from, to] of [
      [0, count],
      [Math.floor(count / 3), count],
      [0, Math.ceil(count / 2)],
    ] as const) {
      assert.deepEqual(files.texts({ ...block!, from, to }), links.slice(from, to));
    }
    assert.throws(() => files.texts({ ...block!, from: count, to: count + 1 }), /cannot be read/);
    assert.throws(() => files.texts({ ...block!, offset: block!.offset + 1 }), /no block begins there/);
    files.close();
    writer.close();
  });
}

test('a file that is full is followed by the next, and few are open at a time', () => {
  const dir = join(folder, 'rolled');
  const writer = openLinkWriter(dir, 4, { fileBytesMax: 40 });
  const files = openLinkFiles(dir);
  const open = (): number => readdirSync('/proc/self/fd').length;
  const idle = open();
  const written = Array.from({ length: 40 }, (_, n) => ({
    link: linkAt(n + 1),
    place: writer.append([[linkAt(n + 1)]]).references[0]!,
  }));
  assert.deepEqual(
    filesIn(dir),
    Array.from({ length: 40 }, (_, n) => n + 4),
  );
  for (const { link, place } of [...written, ...written]) assert.deepEqual(files.texts(place), [link]);
  assert.ok(open() - idle <= 17, `${open() - idle} descriptors`);
  files.close();
  writer.close();
  assert.equal(open(), idle);
});

test('a file is awaited from the moment it is written until its references are known', () => {
  const writer = openLinkWriter(join(folder, 'awaited'), 1, { fileBytesMax: 10 });
  const [one, two] = [writer.append([[linkAt(1)]]), writer.append([[linkAt(2)]])];
  assert.deepEqual([writer.current(), writer.isAwaited(1), writer.isAwaited(2)], [2, true, true]);
  one.release();
  assert.deepEqual([writer.isAwaited(1), writer.isAwaited(2)], [false, true]);
  two.release();
  assert.equal(writer.isAwaited(2), false);
  writer.close();
});

test('blocks are bounded in links and in characters, and keep the order', () => {
  const links = Array.from({ length: 100 }, (_, n) => linkAt(n));
  const limits = { blockLinksMax: 12, blockCharsMax: 600 };
  const blocks = toBlocks(links, limits);
  assert.deepEqual(blocks.flat(), links);
  assert.ok(blocks.every((block) => block.length <= 12));
  assert.ok(
    blocks.every((block) => block.length === 1 || block.reduce((sum, { text }) => sum + text.length, 0) <= 600),
  );
});

test('a queue that grows link by link has few references, and each link is written again only some times', () => {
  const { referencesMax, blockLinksMax } = FILES_LIMITS;
  let queue: Reference[] = [];
  const links = 30_000;
  let [rewritten, most] = [0, 0];
  for (let n = 0; n < links; n++) {
    queue.push(reference(0, 1));
    most = Math.max(most, queue.length - (4 * n) / blockLinksMax);
    if (queue.length <= referencesMax + (4 * n) / blockLinksMax) continue;
    const run = chooseRun(queue, blockLinksMax)!;
    assert.ok(run.from > 0, 'never the head: claims move it');
    const links = queue.slice(run.from, run.to).reduce((sum, one) => sum + one.to - one.from, 0);
    assert.ok(links <= blockLinksMax);
    rewritten += links;
    queue = [...queue.slice(0, run.from), reference(0, links), ...queue.slice(run.to)];
  }
  assert.ok(most <= referencesMax + 2, `${most} references`);
  assert.ok(rewritten / links < 8, `each written ${rewritten / links} times`);
});

test('links that were claimed are merged only as long as their tries can be said in short', () => {
  const queue = Array.from({ length: 40 }, () => reference(0, 20, 2));
  const run = chooseRun(queue, 20_000)!;
  assert.ok((run.to - run.from) * 20 <= 256, `${run.to - run.from} of 20`);
  assert.equal(chooseRun([reference(0, 1)], 20_000), null);
  assert.equal(chooseRun([reference(0, 1), reference(0, 3), reference(0, 1)], 20_000), null);
});
