/** What a filling makes of pieces that its own kind of store would not give in this way, but another does. */

import assert from 'node:assert/strict';

import type { Piece, StoredPage } from '../../src/contract/walk.ts';
import { robotsOf } from './stored-everything.ts';
import { fillWith, makeSource, pageAt, piecesOf, queueOf, siteOf, TALLY, wholeIn } from './stored-pieces.ts';
import { pagesIn, sitesIn, soundSurveyOf, type StoredBehaviour } from './stored-scene.ts';

export const fillPiecesContract = (it: StoredBehaviour): void => {
  it('whether a site waits or is idle, and how many links wait, follows from the links that come', async ({
    empty,
  }) => {
    const place = await empty();
    await fillWith(await place.look(), [
      siteOf('a.example', { state: 'waiting', waiting: 99 }),
      siteOf('b.example', { state: 'idle', waiting: 0 }),
      queueOf('b.example', '1', '2'),
      siteOf('p.example', { state: 'parked', waiting: 0 }),
      queueOf('p.example', '1'),
      siteOf('h.example', { state: 'held', waiting: 7 }),
      TALLY,
    ]);
    const crawl = await place.look();
    assert.deepEqual(
      (await sitesIn(crawl, { sort: 'name' })).map(({ site, state, waiting }) => [site, state, waiting]),
      [
        ['a.example', 'idle', 0],
        ['b.example', 'waiting', 2],
        ['h.example', 'held', 0],
        ['p.example', 'parked', 1],
      ],
    );
    const { waiting, parked, held, sites } = await crawl.census();
    assert.deepEqual([waiting, parked, held, sites], [2, 1, 0, { known: 4, parked: 1, held: 1 }]);
    await soundSurveyOf(crawl);
  });

  it('a queue may come long after its site, and in many pieces', async (scene) => {
    const source = await makeSource(scene);
    const pieces = await piecesOf(source);
    const small = pieces.flatMap((piece): Piece[] =>
      piece.kind === 'queue'
        ? Array.from({ length: Math.ceil(piece.links.length / 40) }, (_, i) => ({
            ...piece,
            links: piece.links.slice(i * 40, (i + 1) * 40),
          }))
        : [piece],
    );
    const ofKind = (kind: Piece['kind']): Piece[] => small.filter((piece) => piece.kind === kind);
    const later = [...ofKind('site'), ...ofKind('queue'), ...ofKind('robots'), ...ofKind('pages'), ...ofKind('tally')];
    const place = await scene.empty();
    await fillWith(await place.look(), later, 11);
    const moved = await place.look();
    assert.deepEqual(await wholeIn(moved), await wholeIn(source));
    await soundSurveyOf(moved);
  });

  it('a crawl of nothing but its tally can be filled', async ({ empty }) => {
    const place = await empty();
    await fillWith(await place.look(), [{ ...TALLY, marks: { seeds: 3 }, notes: { identity: 'x' } }]);
    const crawl = await place.look();
    const { marks, waiting, changes } = await crawl.census();
    assert.deepEqual([marks, waiting, await crawl.note('identity')], [{ seeds: 3 }, 0, 'x']);
    assert.ok(changes >= 1);
    await soundSurveyOf(crawl);
  });

  it('NUL characters arrive, or are replaced where the store cannot hold them', async ({ empty }) => {
    const place = await empty();
    const page = pageAt('a.example/1', 1, { title: 'a\0b', detail: '\0', extracted: '{"a":"\\u0000"}' });
    await fillWith(await place.look(), [
      siteOf('a.example', { pages: 1 }),
      { kind: 'robots', records: [robotsOf('https://a.example', { rules: '1 -/\0' })] },
      { kind: 'pages', pages: [page] },
      TALLY,
    ]);
    const crawl = await place.look();
    const [row] = await pagesIn(crawl);
    const replaced = (text: string | null | undefined): string => text!.replaceAll('\0', '\uFFFD');
    assert.deepEqual(
      [replaced(row?.title), replaced(row?.detail), row?.extracted],
      ['a\uFFFDb', '\uFFFD', '{"a":"\\u0000"}'],
    );
    assert.equal(replaced((await crawl.robots(['https://a.example']))[0]?.rules), '1 -/\uFFFD');
    await soundSurveyOf(crawl);
  });

  it('rows that do not follow the order of their places in the archive are noticed', async ({ empty }) => {
    const at = (warc_offset: number): Partial<StoredPage> => ({
      warc_file: 'records-00001',
      warc_offset,
      warc_length: 5,
      warc_group_length: 5,
    });
    const [first, second] = [pageAt('a.example/1', 1, at(0)), pageAt('a.example/2', 2, at(5))];
    const inOrderOf = async (pages: readonly StoredPage[]): Promise<boolean> => {
      const place = await empty();
      await fillWith(await place.look(), [siteOf('a.example', { pages: 2 }), { kind: 'pages', pages }, TALLY]);
      return (await soundSurveyOf(await place.look())).inOrder;
    };
    assert.equal(await inOrderOf([first, second]), true);
    assert.equal(
      await inOrderOf([
        { ...second, row: 1 },
        { ...first, row: 2 },
      ]),
      false,
    );
  });
};
