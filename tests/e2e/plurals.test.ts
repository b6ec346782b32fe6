/** One is one: what counts a single thing says so in the singular, in every command that counts. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { plural } from '../../src/lib/units.ts';
import { runBinary, type Ran } from '../support/binary.ts';
import { htmlOf, servePages, type ServedPages } from '../support/few-pages.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-plurals-'));
const dir = join(home, 'crawl');
let served: ServedPages;
let crawled: Ran;

before(async () => {
  served = await servePages({ '/': htmlOf('alone') });
  crawled = await runBinary([
    ...['crawl', '--url', served.seed, '--dir', dir, '--email', 'test@example.org', '--delay', '1ms'],
    ...['--connect-to', served.connectTo[0]!, '--disk-reserve', '0', '--keep-links'],
  ]);
  assertCode(crawled, 0);
});
after(async () => {
  await served.close();
  rmSync(home, { recursive: true, force: true });
});

test('a number comes with what it counts', () => {
  assert.equal(plural(1, 'page'), '1 page');
  assert.equal(plural(0, 'page'), '0 pages');
  assert.equal(plural(2_000, 'page'), '2,000 pages');
  assert.equal(plural(1, 'try', 'tries'), '1 try');
  assert.equal(plural(2, 'link waits', 'links wait'), '2 links wait');
});

const SINGULAR: Readonly<Record<string, readonly [args: readonly string[], code: number, says: RegExp]>> = {
  'status counts sites': [['status', dir], 0, /^ {2}links +1 {2}on 1 site$/m],
  'status counts files': [['status', dir], 0, / in 1 file in /],
  'sites counts its lines': [['sites', dir], 0, /^1 site, /m],
  'show counts what the site has': [['show', dir, `http://few.example/no`], 1, /is, with 1 page and 0 links$/m],
  'explain counts what the site has': [
    ['explain', dir, 'http://few.example/'],
    0,
    /idle, 1 page, 0 links in its\s+queue/,
  ],
  'verify counts all': [['verify', dir], 0, /^verified 1 page, \d records in 1 file .*, 1 link on 1 site: no damage$/m],
  'audit counts all': [['audit', dir], 0, /^2 requests, 1 site, 0 violations$/m],
  'export counts pages': [['export', dir, '--format', 'csv', '--out', join(home, 'a.csv')], 0, /^1 page in /m],
  'export counts links': [
    ['export', dir, '--format', 'csv', '--links', '--out', join(home, 'b.csv')],
    0,
    /^0 links in /m,
  ],
};

for (const [name, [args, code, says]] of Object.entries(SINGULAR)) {
  test(name, async () => {
    const ran = await runBinary(args);
    assertCode(ran, code);
    assert.match(ran.stdout + ran.stderr, says);
  });
}

test('the end of a run counts its pages', () => {
  assert.match(crawled.stdout, /is finished after \S+( \S+)?: 1 page in this run/);
  assert.match(crawled.stdout, /^ {2}links +1 {2}on 1 site$/m);
});
