/**
 * Fills a crawl from pieces of another store: links, sites and known URLs go to Redis, page rows into the file of this
 * member.
 */

import { randomUUID } from 'node:crypto';
import { StoreFault } from '../../frontier/store.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import type { MemberRows, Piece } from '../shared-crawl.ts';
import { goneFault, removeKeys } from './all-keys.ts';
import { fillRows, type RowsFilling } from './fill-rows.ts';
import { LAYOUT } from './layout.ts';
import { writeWaiting } from '../link-text.ts';
import type { Look } from './look.ts';
import { BLOCK_CHARS_MAX } from './scripts/admit.ts';
import { OVERTAKEN, TAKEN_WELL } from './scripts/move.ts';
import type { Call } from './wire.ts';

/** What is sent in one go: rules are up to 64 KiB each. */
const CHARS_AT_ONCE = 4_000_000;

export interface RedisMove {
  begin(): Promise<void>;
  take(pieces: readonly Piece[], rows: MemberRows): Promise<void>;
  end(rows: MemberRows): Promise<void>;
  close(): void;
}

/** What goes to one shard; as the script reads it. */
interface Load {
  readonly sites: (readonly (string | number)[])[];
  readonly lines: (readonly [site: string, links: number, blocks: readonly string[]])[];
  readonly robots: string[];
  readonly counts: Record<string, number>;
  prints: string;
}

interface Moving {
  readonly token: string;
  readonly shards: number;
  rows: RowsFilling | null;
  archive: ArchiveEnd;
  readonly loads: Map<number, Load>;
  /** Characters that wait to be sent. */
  chars: number;
}

export const createMove = (look: Look): RedisMove => {
  let moving: Moving | null = null;
  const begun = (): Moving => {
    if (!moving) throw new StoreFault('the move was not begun', 'run it again');
    return moving;
  };
  const rowsOf = (to: Moving, { rowsPath }: MemberRows): RowsFilling => (to.rows ??= fillRows(rowsPath, to.shards));
  return {
    begin: async () => {
      moving?.rows?.close();
      moving = {
        token: await beginMove(look),
        shards: look.place.shards,
        rows: null,
        archive: { file: '', bytes: 0 },
        loads: new Map(),
        chars: 0,
      };
    },
    take: async (pieces, member) => {
      const to = begun();
      for (const piece of pieces) {
        if (piece.kind === 'tally') await takeTally(look, to, piece);
        else if (piece.kind === 'pages') rowsOf(to, member).add(piece.pages);
        load(to, piece);
        if (to.chars >= CHARS_AT_ONCE) await send(look, to);
      }
      await send(look, to);
    },
    end: async (member) => {
      const to = begun();
      rowsOf(to, member).end(to.archive);
      await fillShards(look, to.token, false);
      const [isWhole] = await look.wire.all([{ name: 'endMove', shard: 0, args: [to.token] }]);
      if (isWhole !== 1) throw overtaken(look.place.crawl);
      moving = null;
    },
    close: () => moving?.rows?.close(),
  };
};

/** The mark first: from then on nobody opens what is there, and what an earlier try left can be removed. */
const beginMove = async (look: Look): Promise<string> => {
  const {
    wire,
    where,
    keys,
    place: { crawl, shards },
  } = look;
  const token = randomUUID();
  const begin: Call = { name: 'beginMove', shard: 0, args: [LAYOUT, shards, token] };
  if ((await wire.all([begin]))[0] === 'whole')
    throw new StoreFault(`Redis at ${where} has a crawl "${crawl}" already`, 'choose another --name');
  await removeKeys(look, keys.of('meta', 0));
  look.shardsKnown = shards;
  await fillShards(look, token, true);
  return token;
};

/** A shard takes what comes from this move, or from none. */
const fillShards = async ({ wire, place: { shards } }: Look, token: string, begins: boolean): Promise<void> =>
  void (await wire.all(
    Array.from({ length: shards }, (_, shard): Call => ({ name: 'moveShard', shard, args: [token, begins ? 1 : 0] })),
  ));

const takeTally = async (
  { wire, place }: Look,
  to: Moving,
  { archive, marks, notes }: Extract<Piece, { kind: 'tally' }>,
): Promise<void> => {
  to.archive = archive;
  const given = {
    marks: Object.entries(marks).flatMap(([name, value]) => [`mark:${name}`, String(value)]),
    notes: Object.entries(notes).flat(),
  };
  const [answer] = (await wire.all([{ name: 'takeMeta', shard: 0, args: [to.token, JSON.stringify(given)] }])) as [
    Taken,
  ];
  checkTaken(answer, place.crawl);
};

type Taken = readonly [how: string, site?: string];

const checkTaken = ([how, site]: Taken, crawl: string): void => {
  if (how === OVERTAKEN) throw overtaken(crawl);
  if (how !== TAKEN_WELL)
    throw new StoreFault(`links of "${site}" came, but not the site`, 'check the crawl by "gossamer verify"');
};

const overtaken = (crawl: string): StoreFault =>
  new StoreFault(`another process began to move a crawl to "${crawl}" meanwhile`, 'run `gossamer migrate` again, once');

const loadOf = ({ loads, shards }: Moving, site: string): Load => {
  const shard = site === '' ? 0 : shardOf(site, shards);
  let there = loads.get(shard);
  if (!there) loads.set(shard, (there = { sites: [], lines: [], robots: [], counts: {}, prints: '' }));
  return there;
};

const STATES = { open: '', parked: 'p', held: 'h' } as const;

const load = (to: Moving, piece: Piece): void => {
  switch (piece.kind) {
    case 'site': {
      const { site, state, pages, pace } = piece;
      const there = loadOf(to, site);
      there.sites.push([
        site,
        STATES[state],
        pages,
        pace.dueAt,
        pace.delayMs,
        pace.crawlDelayMs,
        pace.responseMs,
        pace.failures,
      ]);
      count(there, 'pages', pages);
      return;
    }
    case 'line':
      return loadLine(to, piece);
    case 'robots':
      for (const record of piece.records) {
        const text = JSON.stringify(record);
        loadOf(to, piece.site).robots.push(record.origin, text);
        to.chars += text.length;
      }
      return;
    case 'pages':
      for (const { site, url, outcome } of piece.pages) {
        const there = loadOf(to, site);
        there.prints += printOf(url);
        count(there, `settled:${outcome}`, 1);
      }
      return;
    case 'tally': {
      const there = loadOf(to, ''); // counters of the whole crawl are summed over its shards: any will do
      count(there, 'forgotten', piece.forgotten);
      count(there, 'archived', piece.archivedBytes);
      count(there, 'changes', 1);
      return;
    }
    default:
      piece satisfies never;
  }
};

const count = ({ counts }: Load, name: string, by: number): void => void (counts[name] = (counts[name] ?? 0) + by);

const printOf = (url: string): string => `${BigInt.asIntN(64, fingerprint(url))} `;

const loadLine = (to: Moving, { site, links }: Extract<Piece, { kind: 'line' }>): void => {
  const there = loadOf(to, site);
  const blocks: string[] = [];
  let block: { readonly via: string; text: string } | null = null;
  for (const { link, tries } of links) {
    const line = `${writeWaiting(link, tries)}\n`;
    if (block && (block.via !== link.via || block.text.length + line.length > BLOCK_CHARS_MAX)) {
      blocks.push(`${block.via}\n${block.text}`);
      block = null;
    }
    if (block) block.text += line;
    else block = { via: link.via, text: line };
    there.prints += printOf(link.url);
    to.chars += line.length;
  }
  if (block) blocks.push(`${block.via}\n${block.text}`);
  there.lines.push([site, links.length, blocks]);
};

/** These steps may not be repeated: what is lost on the way ends the move, and the next try begins anew. */
const send = async ({ wire, where, place }: Look, to: Moving): Promise<void> => {
  const calls = [...to.loads].map(
    ([shard, one]): Call => ({ name: 'take', shard, args: [to.token, JSON.stringify(one)] }),
  );
  to.loads.clear();
  to.chars = 0;
  for (const answer of await wire.once(calls)) {
    if (answer.kind === 'lost') throw goneFault(where, new Error('it was gone for a moment'));
    if (answer.kind === 'refused') throw answer.fault;
    checkTaken(answer.value as Taken, place.crawl);
  }
};
