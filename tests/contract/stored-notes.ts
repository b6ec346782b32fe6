/** Texts that a crawl keeps for those who join it. */

import assert from 'node:assert/strict';

import { linksOf } from './store-scene.ts';
import { countsOf, type StoredBehaviour } from './stored-scene.ts';

/** A list of seeds can be long, and has what people write. */
const LONG_TEXT = `${'https://a.example/"\'\\{}?ü=🕸\t\n'.repeat(10_000)}end`;

export const notesContract = (it: StoredBehaviour): void => {
  it('a note that nobody wrote is null', async ({ store, look }) => {
    assert.equal(await (await look()).note('identity'), null);
    await store.admit(linksOf('a.example', 1));
    assert.equal(await (await look()).note('identity'), null);
  });

  it('a note is kept as it was written, and is there for whoever looks later', async (scene) => {
    const crawl = await scene.look();
    assert.equal(await crawl.keepNote('seeds.txt', LONG_TEXT), LONG_TEXT);
    assert.equal(await crawl.keepNote('empty', ''), '');
    assert.equal(await crawl.note('seeds.txt'), LONG_TEXT);
    await scene.crash();
    const later = await scene.look();
    assert.deepEqual([await later.note('seeds.txt'), await later.note('empty')], [LONG_TEXT, '']);
    assert.equal(await later.keepNote('empty', 'not any more'), '', 'an empty text is a text');
    assert.equal(await later.note('other'), null);
  });

  it('a note is written once: who comes second is given the first text', async ({ look }) => {
    const [one, two] = [await look(), await look()];
    assert.equal(await one.keepNote('identity', 'first'), 'first');
    assert.equal(await two.keepNote('identity', 'second'), 'first');
    assert.equal(await one.keepNote('identity', 'third'), 'first');
    assert.equal(await two.note('identity'), 'first');
  });

  it('of several who write a note at once one wins, and all are told what it wrote', async ({ empty }) => {
    const place = await empty();
    const crawls = await Promise.all([place.look(), place.look(), place.look(), place.look()]);
    const told = await Promise.all(crawls.map((crawl, i) => crawl.keepNote('identity', `by ${i}`)));
    assert.match(told[0]!, /^by [0-3]$/);
    assert.deepEqual(new Set(told), new Set([await crawls[3]!.note('identity')]));
  });

  it('a note changes nothing else', async ({ store, look }) => {
    await store.admit(linksOf('a.example', 3));
    const { changes: _, ...before } = await store.census();
    await (await look()).keepNote('identity', 'x');
    const { changes: __, ...after } = await store.census();
    assert.deepEqual(after, before);
  });

  it('where there is no crawl there is no note, and looking for one makes no crawl', async ({ empty }) => {
    const place = await empty();
    assert.equal(await (await place.look()).note('identity'), null);
    const filling = await (await place.look()).fill(); // refused where a crawl is
    await filling.close();
  });

  it('the first note makes the crawl: it can be worked on, and not be filled', async ({ empty }) => {
    const place = await empty();
    const crawl = await place.look();
    await crawl.keepNote('identity', 'x');
    await assert.rejects(crawl.fill(), /already/);
    const store = await place.work();
    await store.admit(linksOf('a.example', 3));
    assert.deepEqual(countsOf(await (await place.look()).census()), countsOf(await store.census()));
    assert.equal(await crawl.note('identity'), 'x');
  });
};
