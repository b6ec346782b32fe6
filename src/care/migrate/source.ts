/** The crawl that is moved, as it lies in its store: stopped, and not changed. */

import { join } from 'node:path';
import { plural } from '../../lib/units.ts';
import { addDead } from '../../archive/dead-list.ts';
import { openArchive } from '../../archive/files.ts';
import { StoreFault } from '../../contract/fault.ts';
import type { MemberView } from '../../contract/journal.ts';
import type { FilledMember, StoredCrawl } from '../../contract/stored-crawl.ts';
import { createRowMarks, type Numbering } from './row-marks.ts';
import type { FoundTally, Piece } from '../../contract/walk.ts';
import type { Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { hasStore } from '../../store/files.ts';
import { keepsRowsByMember } from '../../store/address.ts';
import { openStore, openStoredCrawl } from '../../store/open.ts';
import type { LookOptions } from '../../store/options.ts';
import { FILES } from '../../folder/folder.ts';
import { shortName } from '../../folder/gathering.ts';
import { joinCrawls, ROWS_APART } from '../../folder/joined-crawl.ts';
import { checkNotMoved, MOVED_NOTE } from '../../folder/notes.ts';
import { whereIs } from '../../folder/roster.ts';
import { aheadOf } from './ahead.ts';

export interface Source {
  readonly census: Census;
  /** How far its clock is ahead of this machine's, rather too little than too much. */
  readonly aheadMs: number;
  pieces(): AsyncIterable<Piece>;
  /** The store was told already where the crawl goes: a move was killed when the copy was whole. */
  readonly wasTold: boolean;
  /** All members whose directories are given, with the ends of their archives. */
  readonly members: readonly FilledMember[];
  /** The state of the crawl now: nobody may have changed it meanwhile. */
  look(): Promise<Census>;
  close(): Promise<void>;
}

export interface SourceOptions {
  /** The places of all directories that move; the first speaks for the crawl. */
  readonly froms: readonly LookOptions[];
  /** How the store calls where it goes, if it was told already by a move that was killed. */
  readonly to: string;
  /** The member that began the crawl, whose marks have no name behind them. */
  readonly beganBy: string;
  /** Whether members have rows of their own where it goes. */
  readonly isToByMember: boolean;
}

export const openSource = async ({ froms, to, beganBy, isToByMember }: SourceOptions): Promise<Source> => {
  const from = froms[0]!;
  const { dir, say } = from;
  if (!hasStore(dir, from.url))
    throw new UsageError(
      `crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`,
    );
  const crawls: StoredCrawl[] = [];
  const isFromByMember = keepsRowsByMember(from.url);
  const close = async (): Promise<void> => void (await Promise.all(crawls.map((one) => one.close())));
  try {
    for (const one of froms) crawls.push(await openStoredCrawl(one));
    const crawl = joinCrawls(crawls, isFromByMember);
    const wasTold = (await crawl.note(MOVED_NOTE)) === to;
    if (!wasTold) await checkNotMoved(crawl, from);
    const { leased } = await crawl.census();
    if (leased > 0) {
      for (const one of froms) await freeOwn(one);
      await checkFree(crawl, from);
      say(
        `the crawl was killed: ${leased === 1 ? 'a link that was under way waits' : 'links that were under way wait'} again`,
      );
    }
    const { census, leastMs } = await aheadOf(crawl, from.url);
    const views = await crawl.members();
    const members = await Promise.all(
      froms.map(async ({ member, dir: place }, i) => {
        const { archive, dead } = await tallyOf(crawls[i]!);
        // Its next start would list them, and knows nothing of them where it goes.
        if (dead.length > 0 && froms.length > 1)
          addDead(
            place,
            dead.map((span) => ({ ...span, why: 'it was not settled' })),
          );
        return { member, dir: place, archive, about: views.find((one) => one.member === member)?.about ?? null };
      }),
    );
    const names = [beganBy, ...froms.map(({ member }) => member).filter((name) => name !== beganBy)];
    const numbering = froms.length === 1 ? null : { members: names, isFromByMember, isToByMember };
    return {
      census,
      aheadMs: leastMs,
      wasTold,
      members,
      look: () => crawl.census(),
      pieces: () => piecesOf(crawl, { numbering, views }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const tallyOf = async (crawl: StoredCrawl): Promise<FoundTally> => {
  for await (const found of crawl.walk(['tally'])) if (found.kind === 'tally') return found;
  throw new Error('a walk over a crawl must end with its tally');
};

/** As a resume does: opening frees what this member had leased when it died, and takes back what was not settled. */
const freeOwn = async (from: LookOptions): Promise<void> => {
  const { dir } = from;
  const store = await openStore({
    ...from,
    clock: null,
    archive: (settled) => openArchive({ dir: join(dir, FILES.warc), settled, warcinfo: unused, stamp: unused }),
    dead: (records) =>
      addDead(
        dir,
        records.map((one) => ({ ...one, why: 'its lease ran out before it was settled' })),
      ),
  });
  await store.close();
};

const unused = (): never => {
  throw new Error('a move appends no record');
};

const checkFree = async (crawl: StoredCrawl, from: LookOptions): Promise<void> => {
  const { leased } = await crawl.census();
  if (leased === 0) return;
  throw new StoreFault(
    `${plural(leased, 'link')} of the crawl "${from.crawl}" ${leased === 1 ? 'is' : 'are'} leased by other members`,
    'stop them; the leases of those that died end by themselves within minutes',
  );
};

/** Nothing is left behind in silence: what cannot be read ends the move. */
async function* piecesOf(
  crawl: StoredCrawl,
  { numbering, views }: { readonly numbering: Numbering | null; readonly views: readonly MemberView[] },
): AsyncGenerator<Piece, void, undefined> {
  const rowMarks = createRowMarks((await crawl.census()).marks, numbering);
  for await (const found of crawl.walk(['sites', 'robots', 'pages', 'tally'])) {
    switch (found.kind) {
      case 'wrong':
        throw damaged(found.says);
      case 'broken':
        throw damaged(`the queue of the site "${found.site}" is broken: ${found.says}`);
      case 'site':
        if (found.leased !== null) throw damaged(`a link of the site "${found.site}" is leased`);
        yield found;
        break;
      case 'tally':
        checkAll(found.elsewhere, views);
        yield { ...found, marks: rowMarks.moved(found.marks) };
        break;
      case 'seen':
        break;
      case 'pages':
        for (const { row, member } of found.pages)
          rowMarks.note(numbering?.isFromByMember ? row % ROWS_APART : row, member);
        yield found;
        break;
      case 'queue':
      case 'robots':
        yield found;
        break;
      default:
        found satisfies never;
    }
  }
}

const damaged = (says: string): StoreFault => new StoreFault(says, 'check the crawl by "gossamer verify"');

/** Members whose directories are not given would lose their pages. */
const checkAll = (elsewhere: readonly string[], views: readonly MemberView[]): void => {
  if (elsewhere.length === 0) return;
  const missing = elsewhere.map((name) => {
    const view = views.find(({ member }) => member === name);
    return view ? `${shortName(name)} (${whereIs(view)})` : shortName(name);
  });
  throw new StoreFault(
    `the crawl has pages whose rows or archive are with members that are not given: ${missing.join(', ')}`,
    `give the directories of all members; one that is gone for good is given up by "gossamer verify" with --repair --lost ${shortName(elsewhere[0]!)}`,
  );
};
