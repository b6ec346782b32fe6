/** A stopped crawl in pieces, to move it to another store: one way over all sites and rows, in little memory. */

import { StoreFault } from '../../frontier/store.ts';
import { writeCount } from '../../lib/units.ts';
import { settledTotal, type Census } from '../../model/census.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { siteOf } from '../../url/site.ts';
import type { MemberRows, Piece } from '../shared-crawl.ts';
import { census, pairs } from './census.ts';
import type { Waiting } from '../link-text.ts';
import type { Look } from './look.ts';
import { openLineReader, type LineReader } from './read-lines.ts';
import { openSettledRows, type SettledRows } from './settled-rows.ts';
import { walkShard } from './walk.ts';

/** Links of one piece: about 100 KB, so that a line of any length is never in memory as a whole. */
const LINKS_PER_PIECE = 500;
/** With the largest extracted values, 6 MiB. */
const PAGES_PER_PIECE = 100;
/** Records of rules read in one go, of at most 64 KiB each. */
const RULES_AT_ONCE = 50;

/** Throws a StoreFault when a link is leased, when pages lie with other members, or a line is broken. */
export async function* piecesOf(look: Look, member: MemberRows): AsyncGenerator<Piece, void, undefined> {
  const rows = await openSettledRows(look, member);
  const lines = openLineReader(member.rowsPath);
  try {
    const shards = await look.shards();
    const counted = await census({ wire: look.wire, shards, end: rows.end });
    checkAtRest(counted);
    checkAllHere(counted, rows);
    for (let shard = 0; shard < shards; shard++) yield* sitePieces(look, shard, lines);
    for (let shard = 0; shard < shards; shard++) yield* robotsPieces(look, shard);
    for (const pages of rows.pages(PAGES_PER_PIECE)) yield { kind: 'pages', pages };
    yield {
      kind: 'tally',
      forgotten: counted.forgotten,
      archivedBytes: counted.archivedBytes,
      archive: rows.end,
      marks: counted.marks,
      notes: await notesOf(look),
    };
  } finally {
    lines.close();
    rows.close();
  }
}

const checkAtRest = ({ leased }: Census): void => {
  if (leased > 0)
    throw new StoreFault(
      `${writeCount(leased)} ${leased === 1 ? 'link is' : 'links are'} leased: the crawl is at work, or was killed`,
      'resume and stop it first',
    );
};

const checkAllHere = (counted: Census, { total, others }: SettledRows): void => {
  const settled = settledTotal(counted);
  if (settled === total) return;
  const says = `${writeCount(settled)} links are settled, but the rows of this directory have ${writeCount(total)}`;
  throw settled > total && others.length > 0
    ? new StoreFault(
        `${says}: the others lie with ${others.length === 1 ? 'the member' : 'the members'} ${others.join(', ')}`,
        'a crawl can be moved only from a directory that has all its pages',
      )
    : new StoreFault(says, 'check the crawl by "gossamer verify"');
};

async function* sitePieces(look: Look, shard: number, lines: LineReader): AsyncGenerator<Piece, void, undefined> {
  let links: Waiting[] = [];
  for await (const step of walkShard(look, shard)) {
    const { site, state, pages, pace, headAt } = step.row;
    switch (step.kind) {
      case 'site':
        yield { kind: 'site', site, state: state === 'p' ? 'parked' : state === 'h' ? 'held' : 'open', pages, pace };
        break;
      case 'blocks':
        for (const [i, text] of step.blocks.entries()) {
          const some = lines.links({ site, text, headAt: step.from + i === 0 ? headAt : 0 });
          if (some === null)
            throw new StoreFault(
              `the line of the site "${site}" is broken: block ${step.from + i + 1} cannot be read`,
              'check the crawl by "gossamer verify"',
            );
          links.push(...some);
          if (links.length < LINKS_PER_PIECE) continue;
          yield { kind: 'line', site, links };
          links = [];
        }
        break;
      case 'end':
        if (links.length > 0) yield { kind: 'line', site, links };
        links = [];
        break;
      default:
        step satisfies never;
    }
  }
}

/**
 * A record has its origin alone; the site is that of its host. Those of one site need not follow each other, and one
 * may come twice.
 */
async function* robotsPieces(look: Look, shard: number): AsyncGenerator<Piece, void, undefined> {
  for await (const records of rulesIn(look, shard)) {
    for (const [origin, text] of records)
      yield { kind: 'robots', site: siteOf(new URL(origin).hostname), records: [JSON.parse(text) as RobotsRecord] };
  }
}

/** The rules of all origins of a shard, some at a time. */
export async function* rulesIn(
  { wire }: Look,
  shard: number,
): AsyncGenerator<[origin: string, text: string][], void, undefined> {
  for (let cursor = '0'; ; ) {
    const [[next, flat]] = (await wire.all([{ name: 'rulesFrom', shard, args: [cursor, RULES_AT_ONCE] }])) as [
      [string, string[]],
    ];
    yield pairs(flat);
    if ((cursor = next) === '0') return;
  }
}

const notesOf = async ({ wire }: Look): Promise<Record<string, string>> => {
  const [flat] = (await wire.all([{ name: 'notes', shard: 0, args: [] }])) as [string[]];
  return Object.fromEntries(pairs(flat).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
