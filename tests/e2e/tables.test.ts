/** Tables on a terminal: no line wraps, however long an address is; in a pipe nothing is ever cut. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ELLIPSIS, widthOf } from '../../src/lib/text-width.ts';
import { runBinary } from '../support/binary.ts';
import { FEW_PAGES_HOST, htmlOf, servePages, type ServedPages } from '../support/few-pages.ts';
import { runInTerminal } from '../support/in-terminal.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-tables-'));
const dir = join(home, 'a-crawl-whose-directory-has-a-name-that-is-longer-than-most-terminals-are-wide-and-then-some');
const LONG = `/${'long-and-'.repeat(20)}end`;
const LONG_URL = `http://${FEW_PAGES_HOST}${LONG}`;
const WIDE_TITLE = '这是一个很长的标题'.repeat(12);
let served: ServedPages;

before(async () => {
  served = await servePages({ '/': htmlOf(WIDE_TITLE, [LONG]), [LONG]: htmlOf('😀 '.repeat(60), ['/next']) });
  const ran = await runBinary([
    ...['crawl', '--url', served.seed, '--dir', dir, '--email', 'test@example.org', '--delay', '1ms', '--quiet'],
    ...['--connect-to', served.connectTo[0]!, '--disk-reserve', '0'],
  ]);
  assertCode(ran, 0);
});
after(async () => {
  await served.close();
  rmSync(home, { recursive: true, force: true });
});

const TABLES: Readonly<Record<string, readonly string[]>> = {
  pages: ['pages', dir],
  sites: ['sites', dir],
  status: ['status', dir],
  'the facts of explain': ['explain', dir, `http://${FEW_PAGES_HOST}/next`],
};

for (const [name, args] of Object.entries(TABLES)) {
  test(`${name}: cut on a terminal to its columns, and whole in a pipe`, async () => {
    for (const columns of [40, 80, 132]) {
      const ran = await runInTerminal(args, { columns });
      assertCode(ran, 0);
      const lines = ran.stdout.split(/\r*\n/);
      assert.deepEqual(
        lines.filter((line) => widthOf(line) > columns),
        [],
        `${columns} columns`,
      );
    }
    const piped = await runBinary(args);
    assertCode(piped, 0);
    assert.ok(!piped.stdout.includes(ELLIPSIS), piped.stdout);
    if (name !== 'sites') assert.ok(piped.stdout.includes(name === 'status' ? dir : LONG_URL), piped.stdout);
  });
}

test('in a list of pages the address gives way before what stands after it, and both its ends stay', async () => {
  const { stdout } = await runInTerminal(['pages', dir, '--limit', '2'], { columns: 132 });
  const line = stdout.split(/\r*\n/).find((one) => one.includes('-end'));
  assert.match(line ?? stdout, /http:\/\/few\S*…\S*-end {2}text\/html/);
});

test('a terminal that does not tell its width has 80 columns', async () => {
  const { stdout } = await runInTerminal(['pages', dir]);
  assert.deepEqual(
    stdout.split(/\r*\n/).filter((line) => widthOf(line) > 80),
    [],
  );
});
