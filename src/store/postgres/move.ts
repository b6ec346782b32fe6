/** Fills a new crawl with one that comes in pieces from another store, or from one with another number of shards. */

import type { ClientBase } from 'pg';
import { StoreFault } from '../../frontier/store.ts';
import type { MemberRows, Piece } from '../shared-crawl.ts';
import { beginMoveLayout, endMoveLayout, MOVING } from './layout.ts';
import { BLOCK_CHARS_MAX, writeLine } from './line.ts';
import { rowsOn, type Look } from './look.ts';
import { writeBatch, type Batch } from './move-batch.ts';
import { keyOf } from './schema.ts';

/** Links and sites of one transaction: some megabytes. */
const ROWS_AT_ONCE = 20_000;
/** Pages of one transaction weigh more: with the largest extracted values, 60 MiB. */
const PAGE_WEIGHT = 20;

export interface Move {
  begin(): Promise<void>;
  take(pieces: readonly Piece[], rows: MemberRows): Promise<void>;
  end(): Promise<void>;
}

const emptyBatch = (): Batch => ({ sites: new Map(), robots: [], pages: [], prints: [], tally: null, weight: 0 });

export const createMove = (look: Look): Move => {
  const { server, schema, place } = look;
  /** What the server calls this move. */
  let name: string | null = null;
  /** In one transaction, while no other move has begun. */
  const inMove = (work: (client: ClientBase) => Promise<void>): Promise<void> =>
    server.once(async (client) => {
      await client.query('BEGIN');
      try {
        const mine = await rowsOn(
          client,
          `SELECT FROM ${schema}.meta WHERE name = '${MOVING}' AND value = $1 FOR SHARE`,
          [name],
        );
        if (mine.length === 0)
          throw new StoreFault(
            `the move of the crawl "${place.crawl}" to PostgreSQL was not begun, or another one has begun since`,
            'run one at a time',
          );
        await work(client);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  return {
    begin: async () => {
      name = await server.once((client) =>
        beginMoveLayout(client, { crawl: place.crawl, schema, shards: place.shards }),
      );
    },
    take: async (pieces, { member }) => {
      let batch = emptyBatch();
      for (const [i, piece] of pieces.entries()) {
        add(batch, piece);
        if (batch.weight < ROWS_AT_ONCE && i < pieces.length - 1) continue;
        const whole = batch;
        await inMove((client) => writeBatch({ client, s: schema, shards: place.shards, member }, whole));
        batch = emptyBatch();
      }
    },
    end: async () => {
      try {
        await inMove((client) => endMoveLayout(client, schema));
      } catch (error) {
        if ((error as { cause?: { code?: string } }).cause?.code !== '23505') throw error;
        throw new StoreFault(
          'the crawl that was moved has a URL twice',
          'check it with "gossamer verify" where it came from',
          error,
        );
      }
      await server.once((client) =>
        client.query(
          `ANALYZE ${['site', 'block', 'robots', 'seen', 'page'].map((table) => `${schema}.${table}`).join(', ')}`,
        ),
      );
    },
  };
};

const add = (batch: Batch, piece: Piece): void => {
  batch.weight++;
  switch (piece.kind) {
    case 'site':
      batch.sites.set(piece.site, { piece, blocks: [], waiting: 0 });
      break;
    case 'line':
      addLine(batch, piece);
      break;
    case 'robots':
      batch.robots.push(...piece.records);
      batch.weight += piece.records.length * PAGE_WEIGHT;
      break;
    case 'pages':
      batch.pages.push(...piece.pages);
      for (const { url } of piece.pages) batch.prints.push(keyOf(url));
      batch.weight += piece.pages.length * PAGE_WEIGHT;
      break;
    case 'tally':
      batch.tally = piece;
      break;
    default:
      piece satisfies never;
  }
};

const addLine = (batch: Batch, { site, links }: Extract<Piece, { kind: 'line' }>): void => {
  let line = batch.sites.get(site);
  if (!line) batch.sites.set(site, (line = { piece: null, blocks: [], waiting: 0 }));
  let block = line.blocks.at(-1);
  for (const { link, tries } of links) {
    const text = writeLine(link, tries);
    if (!block || block.via !== link.via || block.chars + text.length > BLOCK_CHARS_MAX)
      line.blocks.push((block = { via: link.via, lines: [], chars: 0 }));
    block.lines.push(text);
    block.chars += text.length;
    batch.prints.push(keyOf(link.url));
  }
  line.waiting += links.length;
  batch.weight += links.length;
};
