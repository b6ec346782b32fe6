/** A directory that cannot be written, or read, or that has a file in its place: a sentence, never a stack. */

import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test, type TestContext } from 'node:test';
import { runBinary, type Ran } from '../support/binary.ts';
import { mountDisk, sealDisk, unmountDisk } from '../support/crash-disk.ts';
import { GOSSAMER } from '../support/binary.ts';
import { findProgram } from '../support/find-program.ts';
import { makeCrawl } from '../support/made-crawl.ts';
import { assertCode } from '../support/stage.ts';

const NOBODY = '65534';
const home = mkdtempSync(join(tmpdir(), 'gossamer-unwritable-'));
const whole = join(home, 'whole');

before(() => makeCrawl({ dir: whole, sites: 1, pages: 5, waiting: 1, keep: 'all', fileBytesMax: 1024 ** 2 }));
after(() => rmSync(home, { recursive: true, force: true }));

const assertSentence = (ran: Ran, code: number, says: RegExp): void => {
  assertCode(ran, code);
  assert.match(ran.stderr, says);
  assert.doesNotMatch(ran.stderr, /\n {4}at /, 'a stack');
};

/** Words of commands that read a crawl, the directory left out. */
const READING = [
  ['status', '--json'],
  ['pages'],
  ['sites'],
  ['explain', 'http://s0.example/page/2'],
  ['show', 'http://s0.example/page/2'],
] as const;

/** As a process that is killed leaves a crawl: the last changes are in the log beside the database. */
const copyWithLog = (from: string, to: string): void => {
  cpSync(from, `${to}-open`, { recursive: true });
  const db = new DatabaseSync(join(`${to}-open`, 'crawl.db'));
  db.exec("PRAGMA wal_autocheckpoint = 0; INSERT INTO meta (name, value) VALUES ('left', 'in the log')");
  cpSync(`${to}-open`, to, { recursive: true });
  rmSync(join(to, 'crawl.db-shm'));
  db.close();
};

const NEW = ['--url', 'a.example', '--email', 'test@example.org', '--disk-reserve', '0'];

test('on a disk that cannot be written a crawl at rest can be read, and what must write says so in a sentence', async (t: TestContext) => {
  const disk = join(home, 'disk');
  if (!(await mountDisk(disk))) return t.skip('nothing can be mounted here');
  try {
    const dir = join(disk, 'crawl');
    cpSync(whole, dir, { recursive: true });
    cpSync(whole, join(disk, 'locked'), { recursive: true });
    assertCode(await runBinary(['verify', join(disk, 'locked')]), 0); // leaves a lock file behind
    copyWithLog(whole, join(disk, 'killed'));
    writeFileSync(join(dir, 'crawl.db-wal'), ''); // as those leave it who only read
    await sealDisk(disk);
    assertSentence(await runBinary(['crawl', '--dir', join(disk, 'new'), ...NEW]), 2, /choose another --dir/);
    assertSentence(await runBinary(['crawl', '--dir', disk, ...NEW]), 2, /choose another --dir|writable/);
    for (const one of [dir, join(disk, 'locked')]) {
      const cannotLock = /cannot be locked \(.*\): make its directory writable for this user/;
      assertSentence(await runBinary(['resume', one, '--disk-reserve', '0']), 2, cannotLock);
      assertSentence(await runBinary(['verify', one]), 2, cannotLock);
      assertSentence(await runBinary(['verify', one, '--repair']), 2, cannotLock);
      assertSentence(await runBinary(['migrate', one, '--shards', '3']), 2, cannotLock);
    }
    for (const words of READING) {
      const [command, ...more] = words;
      const here = await runBinary([command, whole, ...more]);
      assertCode(here, 0);
      const there = await runBinary([command, dir, ...more]);
      assertCode(there, 0);
      assert.equal(there.stdout.replaceAll(dir, whole), here.stdout);
    }
    const cannotRead = /cannot be read: .*make it writable for this user, or copy the crawl/;
    for (const words of READING) {
      const [command, ...more] = words;
      assertSentence(await runBinary([command, join(disk, 'killed'), ...more]), 2, cannotRead);
    }
    const out = join(disk, 'pages.csv');
    const exported = await runBinary(['export', whole, '--format', 'csv', '--out', out]);
    assertSentence(exported, 2, /cannot be written .*choose another --out/);
  } finally {
    unmountDisk(disk);
  }
});

test('a user who may not read a crawl is told so, not that there is none', async (t: TestContext) => {
  if (process.geteuid?.() !== 0 || findProgram('setpriv') === null) return t.skip('needs root and setpriv');
  const dir = join(home, 'private');
  cpSync(whole, dir, { recursive: true });
  for (const left of ['crawl.db-shm', 'crawl.db-wal']) rmSync(join(dir, left), { force: true }); // by those who read it
  chmodSync(home, 0o755);
  chmodSync(dir, 0o700);
  const command = ['setpriv', `--reuid=${NOBODY}`, '--clear-groups', process.execPath, GOSSAMER];
  const asNobody = (args: readonly string[]): Promise<Ran> => runBinary(args, { command });
  for (const one of ['status', 'resume', 'verify', 'pages'])
    assertSentence(await asNobody([one, dir]), 2, /cannot be read.*permission denied/);
  assertSentence(await asNobody(['crawl', '--dir', join(home, 'theirs'), ...NEW]), 2, /cannot be made: .*permission/);
  chmodSync(dir, 0o755);
  assertSentence(await asNobody(['resume', dir, '--disk-reserve', '0']), 2, /cannot be locked .*writable/);
  assertCode(await asNobody(['status', dir]), 0);
});

test('a file where a directory should be is named in a sentence', async () => {
  const dir = join(home, 'crooked');
  cpSync(whole, dir, { recursive: true });
  rmSync(join(dir, 'warc'), { recursive: true });
  writeFileSync(join(dir, 'warc'), '');
  assertSentence(await runBinary(['verify', dir]), 1, /ENOTDIR.*warc/);
  assertSentence(await runBinary(['resume', dir, '--disk-reserve', '0']), 1, /ENOTDIR.*warc/);
  assertSentence(await runBinary(['crawl', '--dir', join(dir, 'seeds.txt'), ...NEW]), 2, /is not a directory/);
  assertSentence(await runBinary(['status', join(dir, 'seeds.txt')]), 2, /there is no crawl in/);
});
