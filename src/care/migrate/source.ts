/** The crawl that is moved, as it lies in its store: stopped, and not changed. */

import { join } from 'node:path';
import { plural } from '../../lib/units.ts';
import { addDead } from '../../archive/dead-list.ts';
import { openArchive } from '../../archive/files.ts';
import { StoreFault } from '../../contract/fault.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import { createRowMarks } from './row-marks.ts';
import type { Piece } from '../../contract/walk.ts';
import type { Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { hasStore } from '../../store/files.ts';
import { openStore, openStoredCrawl } from '../../store/open.ts';
import type { LookOptions } from '../../store/options.ts';
import { FILES } from '../../folder/folder.ts';
import { checkNotMoved } from '../../folder/notes.ts';
import { aheadOf } from './ahead.ts';

export interface Source {
  readonly census: Census;
  /** How far its clock is ahead of this machine's, rather too little than too much. */
  readonly aheadMs: number;
  pieces(): AsyncIterable<Piece>;
  /** The state of the crawl now: nobody may have changed it meanwhile. */
  look(): Promise<Census>;
  close(): Promise<void>;
}

export const openSource = async (from: LookOptions): Promise<Source> => {
  const { dir, say } = from;
  if (!hasStore(dir, from.url))
    throw new UsageError(
      `crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`,
    );
  const crawl = await openStoredCrawl(from);
  try {
    await checkNotMoved(crawl, from);
    const { leased } = await crawl.census();
    if (leased > 0) {
      await freeOwn(from);
      await checkFree(crawl, from);
      say(
        `the crawl was killed: ${leased === 1 ? 'a link that was under way waits' : 'links that were under way wait'} again`,
      );
    }
    const { census, leastMs } = await aheadOf(crawl, from.url);
    return {
      census,
      aheadMs: leastMs,
      look: () => crawl.census(),
      pieces: () => piecesOf(crawl),
      close: () => crawl.close(),
    };
  } catch (error) {
    await crawl.close();
    throw error;
  }
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
async function* piecesOf(crawl: StoredCrawl): AsyncGenerator<Piece, void, undefined> {
  const rowMarks = createRowMarks((await crawl.census()).marks);
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
        checkAlone(found.elsewhere);
        yield { ...found, marks: rowMarks.moved(found.marks) };
        break;
      case 'seen':
        break;
      case 'pages':
        for (const { row } of found.pages) rowMarks.note(row);
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

const checkAlone = (elsewhere: readonly string[]): void => {
  if (elsewhere.length === 0) return;
  throw new StoreFault(
    `the crawl has pages whose rows or archive are not in this directory, but with ${elsewhere.join(', ')}`,
    'a crawl that several directories took part in stays where it is',
  );
};
