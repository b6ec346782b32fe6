/**
 * A check of a crawl names what is damaged, and a repair leaves a crawl that can go on and archives every page once.
 */

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readIdentity, writeIdentity } from '../src/folder/folder.ts';
import type { Keep } from '../src/model/settings.ts';
import { ALL_SHARDS } from './contract/store-scene.ts';
import { openMade, settleAll } from './support/made-crawl.ts';
import { lookAt } from './support/sqlite-place.ts';
import {
  assertGoesOn,
  assertRepairs,
  FILE_BYTES_MAX,
  makeScene,
  namedIn,
  snapshotOf,
  type Scene,
  type StoredPage,
} from './support/verify-scene.ts';

const { open, remove } = await makeScene();
after(remove);

test('a sound crawl is found sound, and the check changes nothing', () =>
  open(async (scene) => {
    const before = snapshotOf(scene.dir);
    const { found, figures } = await scene.verify();
    assert.deepEqual([found.named, found.left, found.count], [[], [], 0]);
    assert.deepEqual(
      { ...figures, records: 0, archiveBytes: 0 },
      { pages: 113, records: 0, files: 6, archiveBytes: 0, links: 160, sites: 7 },
    );
    assert.equal(snapshotOf(scene.dir), before);
    assert.equal((await scene.verify(true)).repaired, null);
    assert.equal(snapshotOf(scene.dir), before);
  }));

for (const [first, then] of [
  ['none', 'all'],
  ['all', 'none'],
  ['none', 'text'],
  ['text', 'all'],
] as const) {
  test(`pages from the time of --keep ${first} are no damage when the crawl goes on with --keep ${then}`, async () => {
    const made = await makeScene(first);
    try {
      await made.open(async (scene) => {
        // as a resume does
        writeIdentity(scene.dir, { ...readIdentity(scene.dir).settings, keep: then }, readIdentity(scene.dir));
        await goOn(scene, then);
        assert.deepEqual((await scene.verify()).found.named, []);
        // What was kept is still checked.
        const [{ warc_file, warc_offset, url }] = scene.sql(
          "SELECT * FROM page WHERE warc_file IS NOT NULL AND digest <> '' ORDER BY id LIMIT 1 OFFSET 3",
        ) as [StoredPage];
        scene.flip(warc_file, warc_offset + 100);
        assert.deepEqual(
          (await scene.verify()).found.named.map((damage) => damage.url),
          [url],
        );
      });
    } finally {
      made.remove();
    }
  });
}

const goOn = async (scene: Scene, keep: Keep): Promise<void> => {
  const store = openMade({ dir: scene.dir, fileBytesMax: FILE_BYTES_MAX });
  await settleAll(store, keep);
  await store.close();
};

for (const keep of ['text', 'none'] as const) {
  test(`a crawl with --keep ${keep} is found sound`, async () => {
    const made = await makeScene(keep);
    try {
      await made.open(async (scene) => assert.deepEqual((await scene.verify()).found.named, []));
    } finally {
      made.remove();
    }
  });
}

test("a flipped byte in a page's text is found where only the text is kept", async () => {
  const made = await makeScene('text');
  try {
    await made.open(async (scene) => {
      const page = scene.pageIn(scene.files()[1]!);
      scene.flip(page.warc_file, page.warc_offset + 60);
      const [says] = namedIn(await scene.verify());
      assert.match(says!, new RegExp(`offset ${page.warc_offset}: .* it belongs to ${page.url}$`));
      await assertRepairs(scene, 'text');
    });
  } finally {
    made.remove();
  }
});

test('a flipped byte is named with its file, offset and page, and only that page is fetched again', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.flip(page.warc_file, page.warc_offset + 100);
    assert.deepEqual(namedIn(await scene.verify()), [
      `${page.warc_file} offset ${page.warc_offset}: a record cannot be read: its checksum does not match: it belongs to ${page.url}`,
    ]);
    const report = await scene.verify(true);
    assert.equal(report.repaired?.[0], '1 page waits again');
    const view = await lookAt(scene.dir, (crawl) => crawl.link(page.url, new URL(page.url).host));
    assert.deepEqual([view.state, view.page], ['waiting', null]);
    assert.match(
      readFileSync(join(scene.dir, 'dead-records.txt'), 'utf8'),
      new RegExp(`^${page.warc_file}\t${page.warc_offset}\t${page.warc_group_length}\tdamaged: ${page.url}$`, 'm'),
    );
    await assertGoesOn(scene);
  }));

test('a page whose request was damaged is fetched again as a whole', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.flip(page.warc_file, page.warc_offset + page.warc_length + 50);
    const { found } = await scene.verify();
    assert.deepEqual(
      found.named.map(({ kind, file, offset, url }) => ({ kind, file, offset, url })),
      [{ kind: 'record-damaged', file: page.warc_file, offset: page.warc_offset + page.warc_length, url: page.url }],
    );
    await assertRepairs(scene);
  }));

test('a robots.txt that was damaged costs no page', () =>
  open(async (scene) => {
    // What lies between two pages is the robots.txt of the second.
    const pages = scene.sql(
      'SELECT * FROM page WHERE warc_file = ? ORDER BY warc_offset',
      scene.files()[1]!,
    ) as StoredPage[];
    const n = pages.findIndex(
      (page, i) => i > 0 && pages[i - 1]!.warc_offset + pages[i - 1]!.warc_group_length < page.warc_offset,
    );
    const offset = pages[n - 1]!.warc_offset + pages[n - 1]!.warc_group_length;
    scene.flip(scene.files()[1]!, offset + 100);
    assert.match(
      namedIn(await scene.verify()).join('\n'),
      new RegExp(`^\\S+ offset ${offset}: .*: it belongs to no page$`),
    );
    assert.deepEqual((await assertRepairs(scene)).repaired, [
      '1 stretch of the archive is listed in dead-records.txt',
      '1 damaged stretch was filled, so that other readers pass over it',
    ]);
  }));

const SHORTER: Readonly<Record<string, (scene: Scene, file: string) => void>> = {
  'in the middle of a record': (scene, file) => truncateSync(scene.path(file), scene.pageIn(file).warc_offset + 200),
  'between two records of a page': (scene, file) =>
    truncateSync(scene.path(file), scene.pageIn(file).warc_offset + scene.pageIn(file).warc_length),
  'at the end of a page': (scene, file) =>
    truncateSync(scene.path(file), scene.pageIn(file).warc_offset + scene.pageIn(file).warc_group_length),
  'to nothing': (scene, file) => truncateSync(scene.path(file), 0),
  'in its opening record': (scene, file) => truncateSync(scene.path(file), 40),
  'by zeros instead of its end': (scene, file) => {
    const bytes = readFileSync(scene.path(file));
    writeFileSync(scene.path(file), bytes.fill(0, scene.pageIn(file).warc_offset + 200));
  },
};

for (const [where, shorten] of Object.entries(SHORTER)) {
  test(`the last file, cut ${where}, is named with the pages it lost, and goes on after its last whole record`, () =>
    open(async (scene) => {
      const file = scene.files().at(-1)!;
      const { size } = statSync(scene.path(file));
      const lost = scene.pageIn(file);
      const last = scene.sql(
        'SELECT * FROM page WHERE warc_file = ? ORDER BY warc_offset DESC LIMIT 1',
        file,
      )[0] as StoredPage;
      shorten(scene, file);
      const { found } = await scene.verify();
      if (statSync(scene.path(file)).size < size)
        assert.match(found.named[0]!.says, /has [\d,]+ bytes, but [\d,]+ were settled$/);
      if (where !== 'at the end of a page') assert.ok(found.named.some(({ url }) => url === lost.url));
      assert.ok(found.named.some(({ url, offset }) => url === last.url && offset === last.warc_offset));
      assert.equal(found.advice.length, 0);
      await assertRepairs(scene);
      assert.throws(() => readFileSync(join(scene.dir, 'dead-records.txt')), { code: 'ENOENT' }); // cut off, not listed
    }));
}

test('a file in the middle that was cut keeps what is left of it', () =>
  open(async (scene) => {
    const file = scene.files()[2]!;
    const page = scene.pageIn(file);
    truncateSync(scene.path(file), page.warc_offset + 10);
    assert.ok(
      (await scene.verify()).found.named.some(
        ({ url, says }) => url === page.url && says.startsWith(`${file} offset ${page.warc_offset}: `),
      ),
    );
    await assertRepairs(scene);
    assert.equal(statSync(scene.path(file)).size, page.warc_offset + 10);
  }));

for (const [which, n] of [
  ['first', 0],
  ['middle', 3],
  ['last', -1],
] as const) {
  test(`the ${which} file, deleted, is named with all its pages`, () =>
    open(async (scene) => {
      const file = scene.files().at(n)!;
      const pages = scene.sql('SELECT url FROM page WHERE warc_file = ? ORDER BY warc_offset', file) as {
        url: string;
      }[];
      rmSync(scene.path(file));
      const { found } = await scene.verify();
      assert.equal(found.named[0]!.says, `${file} is missing, though its pages are settled`);
      assert.deepEqual(
        found.named.slice(1).map(({ url }) => url),
        pages.map(({ url }) => url),
      );
      await assertRepairs(scene);
    }));
}

test('all files, deleted, are fetched again', () =>
  open(async (scene) => {
    rmSync(join(scene.dir, 'warc'), { recursive: true });
    const { found } = await scene.verify();
    assert.equal(found.byKind['file-missing'], 6);
    assert.equal(found.named.length, 50); // then counted
    assert.equal(found.count, 6 + 113);
    await assertRepairs(scene);
  }));

test('a file that is gone is named by its number where no page tells of it', () =>
  open(async (scene) => {
    const file = scene.files()[3]!;
    rmSync(scene.path(file));
    scene.sql('DELETE FROM page WHERE warc_file = ?', file);
    assert.ok(
      namedIn(await scene.verify()).includes('gossamer-*-00003.warc.gz is missing, though its pages are settled'),
    );
    await assertRepairs(scene);
  }));

test('leases, an unsettled end and a file begun after it are left by a kill, and a repair of damage clears the archive', () =>
  open(async (scene) => {
    const store = openMade({ dir: scene.dir, fileBytesMax: FILE_BYTES_MAX });
    await store.claim({
      holder: 'test',
      shards: ALL_SHARDS,
      visits: 3,
      delayMs: 0,
      pagesMax: null,
      sitePagesMax: { all: null },
      leaseMs: null,
    });
    await store.close();
    const file = scene.files().at(-1)!;
    const { size } = statSync(scene.path(file));
    appendFileSync(scene.path(file), 'left');
    const later = file.replace('00005', '00006');
    writeFileSync(scene.path(later), 'begun');
    const { found } = await scene.verify();
    assert.deepEqual(
      [found.named, found.left],
      [
        [],
        ['3 leased links', `${later}: begun after the settled end`, `${file}: 4 B after its settled end, at ${size}`],
      ],
    );
    scene.tally((tally) => (tally.waiting = 1));
    assert.deepEqual((await scene.verify(true)).after?.left, ['3 leased links']);
    await assertGoesOn(scene);
  }));

test('a repair that was killed after its transaction can be made again', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.flip(page.warc_file, page.warc_offset + 100);
    const damaged = readFileSync(scene.path(page.warc_file));
    await scene.verify(true);
    rmSync(join(scene.dir, 'dead-records.txt')); // written after it, and the bytes are filled last
    writeFileSync(scene.path(page.warc_file), damaged);
    assert.match(
      namedIn(await scene.verify()).join('\n'),
      new RegExp(`^${page.warc_file} offset ${page.warc_offset}: .*: it belongs to no page$`, 'm'),
    );
    await assertRepairs(scene);
  }));

test('a record without a page is named, and its link waits again', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql('DELETE FROM page WHERE id = ?', page.id);
    const { found } = await scene.verify();
    assert.ok(
      found.named.some(
        ({ kind, file, offset, url }) =>
          kind === 'record-orphan' && file === page.warc_file && offset === page.warc_offset && url === page.url,
      ),
    );
    assert.ok(found.named.some(({ says }) => says.startsWith('1 known URL is neither waiting')));
    const { repaired } = await assertRepairs(scene);
    assert.ok(repaired?.includes('1 link of a record without a page waits again'));
    assert.equal(scene.sql('SELECT 1 FROM page WHERE url = ?', page.url).length, 1);
  }));

test('seeds that are fewer than were loaded are named, and the mark follows them', () =>
  open(async (scene) => {
    writeFileSync(join(scene.dir, 'seeds.txt'), 's1.example\n');
    assert.deepEqual(namedIn(await scene.verify()), ['seeds.txt has 1 line, but 10 were loaded']);
    await assertRepairs(scene);
  }));
