/** A crawl whose directory belongs to another user: what it names is neither run nor written to, unless it is given. */

import assert from 'node:assert/strict';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readIdentity, writeIdentity } from '../../src/folder/folder.ts';
import type { Settings } from '../../src/model/settings.ts';
import { runBinary } from '../support/binary.ts';
import { makeCrawl } from '../support/made-crawl.ts';
import { assertCode } from '../support/stage.ts';

const NOBODY = 65534;
const onlyAsRoot = { skip: process.geteuid?.() === 0 ? false : 'only root can give a directory to another user' };

interface Foreign {
  readonly dir: string;
  readonly hooks: string;
  readonly logFile: string;
  /** Whether the hooks module was loaded. */
  readonly ran: () => boolean;
}

/** A finished crawl that names a hooks module and a log file outside of it. */
const onCrawl = async (
  kept: (place: Foreign) => Partial<Settings>,
  story: (place: Foreign) => Promise<void>,
): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-another-user-'));
  try {
    const mark = join(home, 'ran');
    const place: Foreign = {
      dir: join(home, 'crawl'),
      hooks: join(home, 'hooks.mjs'),
      logFile: join(home, 'crawl.log'),
      ran: () => existsSync(mark),
    };
    const { dir } = place;
    writeFileSync(
      place.hooks,
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, ''); export const accept = () => true;\n`,
    );
    await makeCrawl({ dir, sites: 1, pages: 3, waiting: 0, keep: 'all', fileBytesMax: 1024 ** 2 });
    const made = readIdentity(dir);
    writeIdentity(dir, { ...made.settings, diskReserveBytes: 0, ...kept(place) }, made);
    await story(place);
  } finally {
    rmSync(home, { recursive: true });
  }
};

const both = ({ hooks, logFile }: Foreign): Partial<Settings> => ({ hooks, logFile });

test("hooks and the log file of another user's crawl must be given again: a sentence shows how", onlyAsRoot, () =>
  onCrawl(both, async (place) => {
    const { dir, hooks, logFile, ran } = place;
    chownSync(dir, NOBODY, NOBODY);
    const refused = await runBinary(['resume', dir]);
    assertCode(refused, 2);
    assert.match(refused.stderr, /belongs to user 65534/);
    assert.ok(refused.stderr.includes(`gossamer resume ${dir} --hooks ${hooks} --log-file ${logFile}`), refused.stderr);
    assert.equal(refused.stderr.trim().split('\n').length, 1);
    const half = await runBinary(['resume', dir, '--hooks', hooks]);
    assertCode(half, 2);
    assert.equal(ran() || existsSync(logFile), false, 'nothing was run or written');
    assertCode(await runBinary(['resume', dir, '--hooks', hooks, '--log-file', logFile]), 0);
    assert.equal(ran() && existsSync(logFile), true);
  }),
);

test("another user's crawl goes on without what it names, and one that names nothing needs no word", onlyAsRoot, () =>
  onCrawl(both, async ({ dir, ran, logFile }) => {
    chownSync(dir, NOBODY, NOBODY);
    assertCode(await runBinary(['resume', dir, '--hooks', '', '--log-file', '']), 0);
    assertCode(await runBinary(['resume', dir]), 0);
    assert.equal(ran() || existsSync(logFile), false);
  }),
);

test('a crawl.json that another user put into a directory of ours is not trusted either', onlyAsRoot, () =>
  onCrawl(both, async ({ dir, ran }) => {
    chownSync(join(dir, 'crawl.json'), NOBODY, NOBODY);
    assertCode(await runBinary(['resume', dir]), 2);
    assert.equal(ran(), false);
  }),
);

test('a crawl of our own is resumed with the hooks and the log file that it names', () =>
  onCrawl(both, async ({ dir, ran, logFile }) => {
    assertCode(await runBinary(['resume', dir]), 0);
    assert.equal(ran() && existsSync(logFile), true);
  }));
