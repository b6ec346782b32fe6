/**
 * The check of a crawl in a shared store: the store looks at itself, and this member's archive is compared with its
 * pages.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readDead } from '../../archive/dead-list.ts';
import { writeCount } from '../../lib/units.ts';
import { knownTotal } from '../../model/census.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { UsageError } from '../../model/read-settings.ts';
import { kindOf } from '../../store/place.ts';
import { openSharedCrawl } from '../../store/shared.ts';
import type { SharedCrawl, SharedSurvey } from '../../store/shared-crawl.ts';
import type { PlacedRow } from '../../store/sqlite/check.ts';
import { FILES, readIdentity } from '../folder.ts';
import { knownStore, memberOf, sharedPlace, storeStart } from '../store-place.ts';
import type { Figures, VerifyOptions } from './options.ts';
import { checkArchive } from './archive.ts';
import type { Finder } from './damage.ts';
import { checkSeedFile } from './folder-check.ts';

export const isInSharedStore = (dir: string): boolean => {
  try {
    return kindOf(knownStore(readIdentity(dir).settings.store)) !== 'sqlite';
  } catch {
    return false; // what is wrong with crawl.json is told by the check
  }
};

export interface SharedCheck extends VerifyOptions {
  readonly found: Finder;
}

export const checkShared = async (options: SharedCheck): Promise<Figures> => {
  const { dir, found, onProgress } = options;
  const identity = readIdentity(dir);
  const crawl = await openSharedCrawl(
    sharedPlace(storeStart(dir, identity, knownStore(identity.settings.store)), () => {}),
  );
  const spool = createSpool();
  try {
    const rows = { member: memberOf(identity), rowsPath: join(dir, FILES.rows) };
    const survey = await crawl.survey(rows, (done) => onProgress({ phase: 'links', done, total: 0, unit: 'links' }));
    // What a member settles meanwhile looks like damage.
    if (await hasChanged(crawl, rows.rowsPath, survey))
      throw new UsageError('another process works on this crawl: stop it, then check again');
    tell(survey, found);
    const mark = survey.census.marks[identity.member === undefined ? 'seeds' : `seeds:${identity.member}`] ?? 0;
    await checkSeedFile(dir, mark, found);
    await spool.fill(survey);
    const archive = await checkArchive({
      dir: join(dir, FILES.warc),
      rows: spool.rows(),
      settled: survey.end,
      dead: [...readDead(dir), ...(survey.dead ?? []).map((one) => ({ ...one, why: 'it was not settled' }))],
      found,
      onProgress: (done, total) => onProgress({ phase: 'archive', done, total, unit: 'bytes' }),
    });
    return {
      pages: survey.census.pages,
      records: archive.records,
      files: archive.files,
      archiveBytes: archive.bytes,
      links: survey.links,
      sites: survey.census.sites.known,
    };
  } finally {
    spool.close();
    await crawl.close();
  }
};

const hasChanged = async (crawl: SharedCrawl, rowsPath: string, { census }: SharedSurvey): Promise<boolean> => {
  const reader = crawl.reader(rowsPath);
  try {
    return (await reader.census()).changes !== census.changes;
  } finally {
    await reader.close();
  }
};

const tell = ({ census, links, wrong, wrongTotal }: SharedSurvey, found: Finder): void => {
  for (const says of wrong) found.add({ kind: 'store', says });
  if (wrongTotal > wrong.length) found.addUnnamed('store', wrongTotal - wrong.length);
  if (links !== knownTotal(census) && wrongTotal === 0)
    found.add({
      kind: 'store',
      says: `the counters say ${writeCount(knownTotal(census))} links, but there are ${writeCount(links)}`,
    });
  if (census.leased > 0) found.leave(`${writeCount(census.leased)} leased ${census.leased === 1 ? 'link' : 'links'}`);
};

interface Spool {
  fill(survey: SharedSurvey): Promise<void>;
  rows(): Iterator<PlacedRow>;
  close(): void;
}

/** Pages come over the network while records are read from a file: they wait in a file of their own, not in memory. */
const createSpool = (): Spool => {
  const folder = mkdtempSync(join(tmpdir(), 'gossamer-verify-'));
  const db = new DatabaseSync(join(folder, 'pages.db'));
  db.exec(
    'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT, digest TEXT, file TEXT, offset INTEGER, length INTEGER, group_length INTEGER)',
  );
  return {
    fill: async ({ placed }) => {
      const add = db.prepare(
        'INSERT INTO page (url, digest, file, offset, length, group_length) VALUES (?, ?, ?, ?, ?, ?)',
      );
      db.exec('BEGIN');
      for await (const { url, digest, place, outcome } of placed) {
        if (place && outcome in ANSWERED_OUTCOMES)
          add.run(url, digest, place.file, place.offset, place.length, place.groupLength);
      }
      db.exec('COMMIT');
    },
    rows: function* () {
      const select = db.prepare(
        'SELECT id, url, digest, file, offset, length, group_length FROM page ORDER BY file, offset, id',
      );
      select.setReturnArrays(true);
      for (const row of select.iterate() as Iterable<unknown>) {
        const [id, url, digest, file, offset, length, groupLength] = row as [
          number,
          string,
          string,
          string,
          number,
          number,
          number,
        ];
        yield { id, url, digest, file, offset, length, groupLength };
      }
    },
    close: () => {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
