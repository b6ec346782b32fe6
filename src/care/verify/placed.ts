/** The pages of this member's archive in its order. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import { isArchived } from '../../model/page.ts';
import { placedPage, type PlacedPage } from './page-cursor.ts';

/**
 * Pages are settled in the order of the archive, so their rows give it; where they do not (`inOrder` false), they are
 * sorted in a temporary file.
 */
export const placedPages = (crawl: StoredCrawl, inOrder: boolean): AsyncGenerator<PlacedPage, void, undefined> =>
  inOrder ? asSettled(crawl) : sorted(crawl);

async function* asSettled(crawl: StoredCrawl): AsyncGenerator<PlacedPage, void, undefined> {
  for await (const found of crawl.walk(['pages'])) {
    if (found.kind !== 'pages') continue;
    for (const page of found.pages) if (page.mine && isArchived(page)) yield placedPage(page);
  }
}

async function* sorted(crawl: StoredCrawl): AsyncGenerator<PlacedPage, void, undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'gossamer-verify-'));
  const db = new DatabaseSync(join(folder, 'pages.db'));
  try {
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
      CREATE TABLE page (row, url, digest, file, offset, length, groupLength)`);
    const add = db.prepare('INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?)');
    db.exec('BEGIN');
    for await (const { row, url, digest, file, offset, length, groupLength } of asSettled(crawl))
      add.run(row, url, digest, file, offset, length, groupLength);
    db.exec('COMMIT');
    const rows = db.prepare('SELECT * FROM page ORDER BY file, offset, row').iterate() as Iterable<unknown>;
    yield* rows as Iterable<PlacedPage>;
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
