/** The directory of a crawl: who may look into it. */

import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeCrawlFolder } from '../src/folder/folder.ts';
import { UsageError } from '../src/model/read-settings.ts';
import { openLogFile } from '../src/observe/log-file.ts';
import { createNoteFile } from '../src/ledger/files.ts';
import { makeCrawl } from './support/made-crawl.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('directories that are made for a crawl are for its user alone, whatever the umask allows', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-folder-'));
  const umask = process.umask(0);
  try {
    const dir = join(home, 'new', 'crawl');
    makeCrawlFolder(dir);
    await makeCrawl({ dir, sites: 1, pages: 3, waiting: 0, keep: 'all', fileBytesMax: 1024 ** 2 });
    const log = openLogFile(join(dir, 'logs', 'gossamer.log'));
    log.write('a line');
    log.close();
    closeSync(createNoteFile(join(dir, 'ledger'), { run: 'run', thread: 'test', serial: 0 }).fd);
    const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.deepEqual(folders.map(({ name }) => name).sort(), ['ledger', 'logs', 'warc']);
    for (const path of [join(home, 'new'), dir, ...folders.map(({ name }) => join(dir, name))])
      assert.equal(modeOf(path), '700', path);
  } finally {
    process.umask(umask);
    rmSync(home, { recursive: true });
  }
});

test('a directory that cannot be made is refused with a sentence, also where no directory can be', () => {
  const file = fileURLToPath(import.meta.url);
  for (const dir of [join(file, 'crawl'), '/proc/nowhere/crawl'])
    assert.throws(
      () => makeCrawlFolder(dir),
      (error) => error instanceof UsageError && /cannot be made: .*; choose another --dir$/.test(error.message),
    );
});
