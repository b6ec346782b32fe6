/** Fills a new crawl with one that comes in pieces from another store. */

import { StoreFault } from '../../contract/fault.ts';
import type { FilledMember, Filling } from '../../contract/stored-crawl.ts';
import type { Piece, StoredPage } from '../../contract/walk.ts';
import type { PageRow } from '../../model/page.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { shardOf } from '../../url/shard.ts';
import { SITE_STATE } from '../site-state.ts';
import { writeWaiting } from '../waiting-text.ts';
import { blockFor, type OpenBlock } from './blocks.ts';
import { LONG_MS_MAX, type Connection } from './connection.ts';
import { codeOf } from './faults.ts';
import { beginFillLayout } from './layout.ts';
import { pagesJson } from './pages.ts';
import { robotsJson } from './robots.ts';
import { keyOf } from './schema.ts';
import { arrayOf, jsonOf, type Value } from './values.ts';

export const fill = async (
  { once, rows, schema, options }: Connection,
  members: readonly FilledMember[] = [],
): Promise<Filling> => {
  const { member, shards } = options;
  /** What the server calls this move. */
  const move = await once((client) => beginFillLayout(client, { ...options, schema }));
  for (const one of members.filter((other) => other.member !== member))
    await rows('INSERT INTO @crawl.member (name, run, archive_file, archive_bytes, about) VALUES ($1, 0, $2, $3, $4)', [
      one.member,
      one.archive.file,
      one.archive.bytes,
      one.about && jsonOf(one.about),
    ]);
  let sites = 0;
  const take = async (of: string, pieces: readonly Piece[]): Promise<void> => {
    const values = [move, of, ...valuesOf(pieces, { shards, found: sites })];
    await rows('SELECT @crawl.fill($1, $2, $3, $4, $5, $6, $7, $8)', values);
    sites += pieces.filter(({ kind }) => kind === 'site').length;
  };
  return {
    take: async (pieces) => {
      const ownerOf = (page: StoredPage): string =>
        members.some((one) => one.member === page.member) ? page.member! : member;
      for (const [of, some] of runsOf(pieces, member, ownerOf)) await take(of, some);
    },
    end: async () => {
      try {
        await rows('SELECT @crawl.make_whole($1)', [move], LONG_MS_MAX);
      } catch (error) {
        if (codeOf((error as Error).cause) !== '23505') throw error;
        throw new StoreFault(
          'the crawl that was moved has a URL twice',
          'check it with "gossamer verify" where it came from',
          error,
        );
      }
    },
    // What is not whole is opened by nobody, and made anew by the next move.
    close: async () => {},
  };
};

/** Pieces that can be written for one member, one after the other: rows get their numbers in this order. */
const runsOf = (
  pieces: readonly Piece[],
  self: string,
  ownerOf: (page: StoredPage) => string,
): [member: string, pieces: Piece[]][] => {
  const runs: [string, Piece[]][] = [[self, []]];
  const add = (member: string, piece: Piece): void => {
    if (runs.at(-1)![0] !== member) runs.push([member, []]);
    runs.at(-1)![1].push(piece);
  };
  for (const piece of pieces) {
    if (piece.kind === 'pages') for (const page of piece.pages) add(ownerOf(page), { kind: 'pages', pages: [page] });
    else add(self, piece);
  }
  return runs;
};

type FilledBlock = OpenBlock & { readonly site: string; readonly links: string[] };

/** What `fill.sql` takes after the member; `found` is how many sites came before. */
const valuesOf = (
  pieces: readonly Piece[],
  { shards, found }: { readonly shards: number; readonly found: number },
): Value[] => {
  const sites: object[] = [];
  const blocks: FilledBlock[] = [];
  const prints: bigint[] = [];
  const pages: PageRow[] = [];
  const robots: RobotsRecord[] = [];
  let tally: Piece | null = null;
  const open = new Map<string, FilledBlock>();
  for (const piece of pieces) {
    switch (piece.kind) {
      case 'site': {
        const { site, state, pages: settled, pace } = piece;
        const written = SITE_STATE[state === 'parked' || state === 'held' ? state : 'idle'];
        const place = { id: String(keyOf(site)), found: found + sites.length + 1, shard: shardOf(site, shards) };
        sites.push({ ...place, name: site, state: written, pages: settled, ...pace });
        break;
      }
      case 'queue':
        for (const waiting of piece.links) {
          const { url, via } = waiting.link;
          const text = writeWaiting(waiting);
          const block = blockFor(open, { end: piece.site, via, text }, () => {
            const made = { site: String(keyOf(piece.site)), via, links: [], chars: 0 };
            blocks.push(made);
            return made;
          });
          block.links.push(text);
          prints.push(keyOf(url));
        }
        break;
      case 'robots':
        robots.push(...piece.records);
        break;
      case 'pages':
        for (const { row: _row, mine: _mine, member: _member, ...page } of piece.pages) pages.push(page);
        for (const { url } of piece.pages) prints.push(keyOf(url));
        break;
      case 'tally':
        tally = piece;
        break;
      default:
        piece satisfies never;
    }
  }
  return [jsonOf(sites), jsonOf(blocks), arrayOf(prints), pagesJson(pages), robotsJson(robots), tally && jsonOf(tally)];
};
