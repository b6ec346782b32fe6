/** A check of a crawl names rows, queues and counters that do not agree, and a repair makes them agree. */

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { ask, link } from './contract/store-scene.ts';
import { openMade } from './support/made-crawl.ts';
import { lookAt } from './support/sqlite-place.ts';
import { assertGoesOn, assertRepairs, FILE_BYTES_MAX, makeScene, namedIn, type Scene } from './support/verify-scene.ts';

const { open, remove } = await makeScene();
after(remove);

test('a page that is settled twice is named, and one stays', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql(
      `INSERT INTO page SELECT (SELECT max(id) + 1 FROM page), ${columnsBeside(scene, 'id')} FROM page WHERE id = ?`,
      page.id,
    );
    const { found } = await scene.verify();
    assert.ok(
      found.named.some(
        ({ kind, url, says }) => kind === 'link-twice' && url === page.url && says.endsWith('it is settled twice'),
      ),
    );
    await assertRepairs(scene);
    assert.equal(scene.sql('SELECT 1 FROM page WHERE url = ?', page.url).length, 1);
  }));

const columnsBeside = (scene: Scene, left: string): string =>
  (scene.sql("SELECT name FROM pragma_table_info('page')") as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== left)
    .join(', ');

const WRONG_ROWS: readonly [what: string, set: string, says: RegExp][] = [
  ['digest', "digest = 'sha1:WRONG'", /its digest is sha1:\w+, but sha1:WRONG was settled$/],
  ['offset', 'warc_offset = warc_offset + 1', /no record begins there$/],
  [
    'place, that of another page',
    'warc_offset = (SELECT max(warc_offset) FROM page AS other WHERE other.warc_file = page.warc_file)',
    /the record of http:\S+ is there$/,
  ],
  ['length', 'warc_length = warc_length + 1', /it has \d+ bytes, but \d+ were settled$/],
  ['group length', 'warc_group_length = warc_group_length - 1', /its records have \d+ bytes, but \d+ were settled$/],
  ['place', 'warc_file = NULL, warc_offset = NULL', /its outcome is fetched, but it has no record$/],
  ['outcome', "outcome = 'robots-denied'", /its outcome is robots-denied, but it has a record$/],
];

for (const [what, set, says] of WRONG_ROWS) {
  test(`a page whose row has a wrong ${what} is named and fetched again`, () =>
    open(async (scene) => {
      const page = scene.pageIn(scene.files()[1]!);
      scene.sql(`UPDATE page SET ${set} WHERE id = ?`, page.id);
      const { found } = await scene.verify();
      assert.ok(
        found.named.some((damage) => damage.url === page.url && says.test(damage.says)),
        JSON.stringify(found.named),
      );
      await assertRepairs(scene);
    }));
}

test('a page whose row has the key of another URL is named, and gets its own', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql('UPDATE page SET url_key = url_key + 1 WHERE id = ?', page.id);
    assert.deepEqual(namedIn(await scene.verify()), [`the row of the page ${page.url} has the key of another URL`]);
    await assertRepairs(scene);
    const view = await lookAt(scene.dir, (crawl) => crawl.link(page.url, new URL(page.url).host));
    assert.equal(view.state, 'settled');
  }));

test('a sitemap that a robots.txt named is fetched again as a sitemap', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql("UPDATE page SET via = 'http://s0.example/robots.txt', digest = 'sha1:WRONG' WHERE id = ?", page.id);
    await scene.verify(true);
    const store = openMade({ dir: scene.dir, fileBytesMax: FILE_BYTES_MAX });
    try {
      const { visits } = await store.claim(ask());
      assert.equal(visits.find(({ link: { url } }) => url === page.url)?.link.sitemap, 'named');
      assert.ok(visits.some(({ link: { sitemap } }) => sitemap === undefined));
    } finally {
      await store.close();
    }
  }));

const QUEUES: readonly [what: string, plant: (scene: Scene) => void, says: RegExp][] = [
  [
    'a missing block',
    (scene) => scene.sql('DELETE FROM block WHERE id = (SELECT CAST(queue AS INTEGER) FROM site WHERE id = 3)'),
    /^the queue of the site s\d\.example is broken: block \d+ is missing$/m,
  ],
  [
    'a queue that is forgotten',
    (scene) => scene.sql("UPDATE site SET queue = '' WHERE id = 3"),
    /^block \d+ of waiting links is in no queue$/m,
  ],
  [
    'a queue that begins anew',
    (scene) => scene.sql("UPDATE site SET queue = queue || ' ' || queue WHERE id = 3"),
    /is broken: block \d+ is in two places$/m,
  ],
  [
    'a block in two queues',
    (scene) => scene.sql('UPDATE site SET queue = (SELECT queue FROM site WHERE id = 2) WHERE id = 3'),
    /is broken: block \d+ is in two places$/m,
  ],
  [
    'a queue that cannot be read',
    (scene) => scene.sql("UPDATE site SET queue = 'x' || queue WHERE id = 3"),
    /is broken: the list of its blocks cannot be read$/m,
  ],
  [
    'a pack that is not there',
    (scene) => scene.sql("UPDATE site SET queue = queue || ';77' WHERE id = 3"),
    /is broken: pack 77 is missing$/m,
  ],
  [
    'a site that is noted as idle',
    (scene) => scene.sql('UPDATE site SET state = 4 WHERE id = 3'),
    /^the site s\d\.example is noted as idle, but links of it wait$/m,
  ],
  [
    'a stray pack',
    (scene) => scene.sql("INSERT INTO pack (blocks) VALUES ('1 2')"),
    /^pack \d+ of block numbers is in no queue$/m,
  ],
  [
    'a block that is not links',
    (scene) =>
      scene.sql(
        "UPDATE block SET links = 'nonsense' || char(10) WHERE id = (SELECT CAST(queue AS INTEGER) FROM site WHERE id = 3)",
      ),
    /is broken: block \d+ cannot be read$/m,
  ],
];

for (const [what, plant, says] of QUEUES) {
  test(`${what} is named, and the queue is laid anew`, () =>
    open(async (scene) => {
      plant(scene);
      assert.match(namedIn(await scene.verify()).join('\n'), says);
      await assertRepairs(scene);
      // Only the links of a block that is gone or unreadable can be lost; they are forgotten, to be found again.
      const [{ n }] = scene.sql('SELECT count(*) AS n FROM page') as [{ n: number }];
      const isLost = /missing|not links/.test(what);
      assert.ok(isLost ? n < 160 && n > 150 : n === 160, `${n} pages`);
      scene.tally(({ marks }) => assert.deepEqual(marks, { seeds: isLost ? 0 : 10 })); // a seed may be among them
    }));
}

test('a link that is settled and waits too is named, and waits no more', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql(
      'UPDATE block SET links = links || ? WHERE id = (SELECT CAST(queue AS INTEGER) FROM site WHERE id = ?)',
      `1 0 0 0 ${page.url}\n`,
      page.site,
    );
    const { found } = await scene.verify();
    assert.ok(found.named.some(({ kind, url }) => kind === 'link-twice' && url === page.url));
    await assertRepairs(scene);
    assert.equal(scene.sql('SELECT 1 FROM page').length, 160);
  }));

test('a link that is twice in its queue, or in a stray block though it is settled, is visited once', () =>
  open(async (scene) => {
    const page = scene.pageIn(scene.files()[1]!);
    scene.sql('INSERT INTO block (read_to, via, links) VALUES (0, ?, ?)', '', `1 0 0 0 ${page.url}\n`);
    scene.sql(
      'UPDATE block SET links = links || substr(links, 1, instr(links, char(10))) WHERE id = (SELECT CAST(queue AS INTEGER) FROM site WHERE id = 3)',
    );
    assert.deepEqual((await scene.verify()).found.byKind, { 'link-twice': 1, 'queue-broken': 1, counter: 2 });
    await assertRepairs(scene);
    assert.equal(scene.sql('SELECT 1 FROM page').length, 160);
  }));

test('a long queue is laid anew with all its links, in their order', () =>
  open(async (scene) => {
    const store = openMade({ dir: scene.dir, fileBytesMax: FILE_BYTES_MAX });
    const links = Array.from({ length: 400 }, (_, n) =>
      link(`s2.example/page/${900 + n}`, { via: `https://s2.example/${n}` }),
    ); // a block each, most of them in packs
    await store.admit(links);
    await store.close();
    const before = await queueOf(scene, 's2.example');
    scene.sql("UPDATE site SET queue = queue || ' 9999' WHERE name = 's2.example'");
    await scene.verify(true);
    assert.deepEqual(await queueOf(scene, 's2.example'), before);
    assert.deepEqual(
      before.slice(-400),
      links.map(({ url }) => url),
    );
    await assertGoesOn(scene);
  }));

test('pages that must be fetched again come first in their queue, in their old order', () =>
  open(async (scene) => {
    const file = scene.files().at(-1)!;
    const pages = scene.sql(
      "SELECT url FROM page JOIN site ON site.id = page.site WHERE warc_file = ? AND name = 's3.example' ORDER BY warc_offset",
      file,
    ) as { url: string }[];
    const before = await queueOf(scene, 's3.example');
    assert.ok(pages.length > 1 && before.length > 1);
    rmSync(scene.path(file));
    await scene.verify(true);
    assert.deepEqual(await queueOf(scene, 's3.example'), [...pages.map(({ url }) => url), ...before]);
  }));

const queueOf = (scene: Scene, site: string): Promise<string[]> =>
  lookAt(scene.dir, async (crawl) => {
    const urls: string[] = [];
    for await (const found of crawl.walk(['sites']))
      if (found.kind === 'queue' && found.site === site) urls.push(...found.links.map(({ link: { url } }) => url));
    return urls;
  });

test('links that the log of known URLs lacks are named and added', () =>
  open(async (scene) => {
    scene.sql('DELETE FROM seen WHERE id = (SELECT max(id) FROM seen)');
    const { found } = await scene.verify();
    assert.equal(found.byKind['link-unseen'], 40);
    assert.match(found.named[0]!.says, /^http:\/\/s\d\.example\/page\/\d+ is not in the log of known URLs$/);
    assert.deepEqual((await assertRepairs(scene)).repaired, ['40 URLs were added to the log of known URLs']);
  }));

const snapshotRows = (scene: Scene): number => scene.sql("SELECT 1 FROM meta WHERE name = 'snapshot'").length;

for (const [what, plant] of [
  ['adds to', (scene: Scene) => scene.sql('DELETE FROM seen WHERE id = (SELECT max(id) FROM seen)')],
  [
    'takes from',
    (scene: Scene) => scene.sql('DELETE FROM block WHERE id = (SELECT CAST(queue AS INTEGER) FROM site WHERE id = 3)'),
  ],
] as const) {
  test(`a repair that ${what} the log of known URLs gives up its snapshot; any other leaves it`, () =>
    open(async (scene) => {
      scene.sql(
        "INSERT INTO meta (name, value) VALUES ('snapshot', ?)",
        '{"through":1,"crc":0,"hasZero":false,"segments":[]}',
      );
      scene.tally((tally) => (tally.waiting = 1));
      await scene.verify(true);
      assert.equal(snapshotRows(scene), 1);
      plant(scene);
      await assertRepairs(scene);
      assert.equal(snapshotRows(scene), 0);
    }));
}

test('counters that differ from the rows are named and corrected', () =>
  open(async (scene) => {
    scene.tally((tally) => Object.assign(tally, { waiting: 41, settled: { fetched: 1 }, archivedBytes: 7 }));
    scene.sql('UPDATE site SET waiting = waiting + 2, pages = pages - 1 WHERE id = 1');
    assert.deepEqual(
      namedIn(await scene.verify()).map((says) => says.replace(/[\d,]+$/, 'N')),
      [
        'the site s0.example counts 7 waiting, but has N',
        'the site s0.example counts 16 pages, but has N',
        'the counter "waiting" says 41, but there are N',
        'the counter "settled fetched" says 1, but there are N',
        'the counter "settled robots-denied" says 0, but there are N',
        'the counter "archivedBytes" says 7, but there are N',
      ],
    );
    await assertRepairs(scene);
  }));

test('a counter that is far too high is named like any other, and costs no memory', () =>
  open(async (scene) => {
    scene.tally((tally) => (tally.waiting = 1e15));
    assert.match(namedIn(await scene.verify()).join('\n'), /^the counter "waiting" says 1,000,000,000,000,000, but/);
    await assertRepairs(scene);
  }));
