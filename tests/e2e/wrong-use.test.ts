/** Wrong use of the binary: one clear sentence, exit code 2, and nothing is changed. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GOSSAMER, runBinary, type Ran } from '../support/binary.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';

/** Holds what the wrong uses need: good and bad files, and a crawl that is over. */
let home: string;

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'gossamer-wrong-'));
  const file = (name: string, text: string): void => writeFileSync(join(home, name), text);
  file('seeds.txt', 'http://one.example/\n');
  file('no-seeds.txt', '# nothing\n\nftp://one.example/\nnot a seed at all\n');
  file('bad-exclude.txt', 'one.example\n\nnot a host/at all\n');
  file('a-file', 'a file');
  mkdirSync(join(home, 'a-directory'));
  mkdirSync(join(home, 'foreign'));
  file('foreign/letter.txt', 'dear reader');
  await onStage(plainPlan(1, 1), async ({ served }) => {
    const ran = await runBinary(
      [...GOOD, '--dir', 'done', ...served.connectTo.flatMap((rule) => ['--connect-to', rule])],
      { cwd: home },
    );
    assertCode(ran, 0);
  });
  for (const name of ['broken', 'other-list', 'other-format']) mkdirSync(join(home, name));
  const identity = readFileSync(join(home, 'done', 'crawl.json'), 'utf8');
  file('broken/crawl.json', identity.slice(0, 100));
  const changed = (change: (read: { format: number; fixed: Record<string, unknown> }) => void): string => {
    const read = JSON.parse(identity) as { format: number; fixed: Record<string, unknown> };
    change(read);
    return JSON.stringify(read);
  };
  file(
    'other-list/crawl.json',
    changed(({ fixed }) => (fixed.publicSuffixList = 'of another year')),
  );
  file(
    'other-format/crawl.json',
    changed((read) => (read.format = 99)),
  );
});
after(() => rmSync(home, { recursive: true }));

const EMAIL = ['--email', 'test@example.org'];
const RESERVE = ['--disk-reserve', '10MiB'];
const GOOD = ['crawl', 'seeds.txt', ...EMAIL, ...RESERVE, '--delay', '50ms', '--timeout', '60s'];

type WrongUse = readonly [what: string, args: readonly string[], says: RegExp, code?: number];

const WRONG_USES: readonly WrongUse[] = [
  [
    'an unknown command, with a hint',
    ['crwl'],
    /there is no command "crwl" \(did you mean crawl\?\): it is one of crawl, resume/,
  ],
  [
    'an unknown command that resembles none',
    ['frobnicate'],
    /there is no command "frobnicate": it is one of crawl, resume/,
  ],
  [
    'an unknown flag, with a hint',
    [...GOOD, '--dleay', '5s'],
    /there is no flag --dleay \(did you mean --delay\?\); "gossamer crawl --help" and/,
  ],
  [
    'a piece of a flag, with a hint',
    [...GOOD, '--depth', '2'],
    /there is no flag --depth \(did you mean --max-depth\?\)/,
  ],
  ['a piece that is in too many flags', [...GOOD, '--max', '2'], /there is no flag --max; /],
  [
    'an unknown flag that resembles none',
    [...GOOD, '--frobnicate'],
    /there is no flag --frobnicate; "gossamer crawl --help" and "gossamer help settings" list all$/m,
  ],
  [
    'an unknown flag of a command whose help has them all',
    ['pages', 'done', '--frobnicate'],
    /there is no flag --frobnicate; "gossamer pages --help" lists all$/m,
  ],
  ['a missing value at the end', [...GOOD, '--max-pages'], /--max-pages needs a value: --max-pages N/],
  ['a missing value before another flag', ['crawl', 'seeds.txt', '--email', '--seeded-only'], /--email needs a value/],
  ['a value for a switch', [...GOOD, '--seeded-only=yes'], /--seeded-only takes no value/],
  [
    'a delay that is no time',
    ['crawl', 'seeds.txt', ...EMAIL, '--delay', 'banana'],
    /--delay "banana" is not understood: write a time in seconds, or with its unit/,
  ],
  ['a delay below nothing', ['crawl', 'seeds.txt', ...EMAIL, '--delay', '-1s'], /--delay "-1s" is not understood/],
  ['no page at all', [...GOOD, '--max-pages', '0'], /--max-pages 0 is not understood: the least is 1/],
  [
    'a count that is none',
    [...GOOD, '--concurrency', '1e3'],
    /--concurrency "1e3" is not understood: write a whole number/,
  ],
  ['a count over its ceiling', [...GOOD, '--fetchers', '65'], /--fetchers 65 is not understood: the most is 64/],
  ['a size that is none', [...GOOD, '--body-max', 'large'], /--body-max "large" is not understood: write a size/],
  [
    'a choice that is none',
    [...GOOD, '--keep', 'some'],
    /--keep "some" is not understood: choose one of all, text, none/,
  ],
  ['a log level that is none', [...GOOD, '--log-level', 'loud'], /--log-level "loud" is not known: choose one of/],
  [
    'a log file in a folder that is not there',
    [...GOOD, '--log-file', 'nowhere/crawl.log'],
    /--log-file "nowhere\/crawl\.log" cannot be written: the folder ".*nowhere" does not exist; make it/,
  ],
  [
    'a log file inside a file',
    [...GOOD, '--log-file', 'a-file/crawl.log'],
    /--log-file "a-file\/crawl\.log" cannot be written: the folder ".*a-file" does not exist/,
  ],
  [
    'a log file that is a folder',
    [...GOOD, '--log-file', 'a-directory'],
    /--log-file "a-directory" cannot be written: it is a folder; name a file in it/,
  ],
  [
    'a resume with such a log file',
    ['resume', 'done', '--log-file', 'a-directory'],
    /--log-file "a-directory" cannot be written/,
  ],
  ['no e-mail address', ['crawl', 'seeds.txt'], /--email is missing: give an address/],
  ['an e-mail address without @', ['crawl', 'seeds.txt', '--email', 'me'], /--email "me" is not an e-mail address/],
  [
    'an e-mail address without a dot',
    ['crawl', 'seeds.txt', '--email', 'me@home'],
    /--email "me@home" is not an e-mail address/,
  ],
  [
    'an e-mail address that would add a header',
    ['crawl', 'seeds.txt', '--email', 'me@example.org\r\nX-Evil: 1'],
    /is not an e-mail address/,
  ],
  ['a user agent with spaces', [...GOOD, '--user-agent', 'my bot'], /--user-agent "my bot" is not a product token/],
  ['a user agent that would add a header', [...GOOD, '--user-agent', 'bot\r\nX-Evil: 1'], /cannot be sent in a header/],
  [
    'a user agent without a name for robots.txt',
    [...GOOD, '--user-agent', 'Mozilla/5.0 (compatible; MyBot; +https://example.org/bot)'],
    /no name for robots\.txt can be read from --user-agent .*: give it by --robots-token NAME/,
  ],
  ['a header of ours', [...GOOD, '--header', 'Host: a.example'], /--header Host is set by the crawler: omit it/],
  [
    'a header with a secret',
    [...GOOD, '--header', 'Authorization: Bearer sesame'],
    /--header Authorization would send a secret to every site: give it for its site alone, by --credentials FILE\n$/,
  ],
  ['languages that are none', [...GOOD, '--accept-language', 'german!'], /"german!" is not a list of languages/],
  [
    'a credentials file that is not there',
    [...GOOD, '--credentials', 'nothing.yaml'],
    /"nothing\.yaml" cannot be read: it does not exist/,
  ],
  [
    'a credentials file that is none',
    [...GOOD, '--credentials', 'seeds.txt'],
    /seeds\.txt line 1 column 1: this is not/,
  ],
  [
    'no seeds',
    ['crawl', ...EMAIL],
    /seeds are missing: give a URL, a domain or a seed file, or name them in the --config file$/m,
  ],
  [
    'a seed file that is not there',
    ['crawl', 'nothing.txt', ...EMAIL],
    /there is no file "nothing\.txt", and it is no URL or domain: name a file that exists, or write the URL/,
  ],
  [
    'a path of a seed file that is not there',
    ['crawl', './lists/nothing.org', ...EMAIL],
    /there is no file "\.\/lists\/nothing\.org", and it is no URL or domain/,
  ],
  ['a URL of another scheme', ['crawl', 'ftp://example.org/', ...EMAIL], /"ftp:\/\/example\.org\/" is not usable/],
  [
    'a URL with a password',
    ['crawl', 'https://me:secret@example.org/', 'seeds.txt', ...EMAIL],
    /^gossamer: "https:\/\/\*\*\*@example\.org\/" has a user name or a password in it: omit them; --credentials FILE logs in$/m,
  ],
  [
    'a --url with a password',
    ['crawl', '--url', 'https://me:secret@example.org/', ...EMAIL],
    /^gossamer: --url "https:\/\/\*\*\*@example\.org\/" has a user name or a password in it/,
  ],
  [
    'a --url that is none, beside good seeds',
    [...GOOD, '--url', 'gopher://one.example/'],
    /--url "gopher:.* is not usable/,
  ],
  [
    'a seed file that is a directory',
    ['crawl', 'a-directory', ...EMAIL],
    /"a-directory" is a directory, and seeds are in files: name a file in it/,
  ],
  [
    'a seed file with nothing in it',
    ['crawl', '/dev/null', ...EMAIL, ...RESERVE],
    /there is no good seed in "\/dev\/null"/,
  ],
  [
    'a rule to connect that is none',
    [...GOOD, '--connect-to', 'nonsense'],
    /--connect-to "nonsense" is not understood: write HOST:PORT:ADDR:PORT/,
  ],
  [
    'an exclude file that is not there',
    [...GOOD, '--exclude-file', 'nothing.txt'],
    /"nothing\.txt" cannot be read: it does not exist/,
  ],
  [
    'an exclude file with a bad line',
    [...GOOD, '--exclude-file', 'bad-exclude.txt'],
    /bad-exclude\.txt line 3: .*(?:mend|fix) it/,
  ],
  ['a --dir that is a file', [...GOOD, '--dir', 'a-file'], /"a-file" is not a directory: choose another --dir/],
  [
    'a --dir inside a file',
    [...GOOD, '--dir', 'a-file/crawl'],
    /"a-file\/crawl" cannot be made: .*choose another --dir/,
  ],
  [
    'a --dir with files of others',
    [...GOOD, '--dir', 'foreign'],
    /"foreign" is not empty \(it holds "letter\.txt"\) and is no crawl/,
  ],
  [
    'a --dir that holds a crawl',
    [...GOOD, '--dir', 'done'],
    /"done" holds a crawl already: go on with it by "gossamer resume done"/,
  ],
  ['a resume of nothing', ['resume', 'nothing'], /there is no crawl in "nothing": start one by "gossamer crawl/],
  ['a resume of a folder without a crawl', ['resume', 'foreign'], /there is no crawl in "foreign"/],
  ['a resume without a folder', ['resume'], /the directory of the crawl is missing/],
  ['a resume with a wrong setting', ['resume', 'done', '--max-depth', '-1'], /--max-depth "-1" is not understood/],
  [
    'a resume with a seed file that is not there',
    ['resume', 'done', '--seeds', 'nothing.txt'],
    /"nothing\.txt" cannot be read/,
  ],
  [
    'a resume of a crawl whose crawl.json is broken',
    ['resume', 'broken'],
    /"broken\/crawl\.json" cannot be read .*: restore it from a copy/,
  ],
  [
    'a resume of a crawl of another format',
    ['resume', 'other-format'],
    /"other-format\/crawl\.json" is not of a kind that gossamer .* knows/,
  ],
  [
    'a store that is none',
    [...GOOD, '--store', 'mysql://me:secret@db', '--dir', 'new'],
    /--store "mysql:\/\/me@db" is not understood: write sqlite, redis:\/\/HOST:PORT, .* or postgres:\/\//,
  ],
  [
    'a name that no store takes',
    [...GOOD, '--name', 'My Crawl', '--dir', 'new'],
    /--name "My Crawl" cannot be the name of a crawl: use up to 40 of the characters a-z, 0-9 and _/,
  ],
  [
    'a resume in another store',
    ['resume', 'done', '--store', 'redis://127.0.0.1:1'],
    /the crawl is in sqlite, not in redis:\/\/127\.0\.0\.1:1: omit --store, or move the crawl with "gossamer migrate"/,
  ],
  [
    'a join without a shared store',
    ['join', 'new'],
    /only a crawl in Redis or PostgreSQL can be joined: give its address by --store/,
  ],
  [
    'a resume of a crawl with another public suffix list',
    ['resume', 'other-list'],
    /was made with publicSuffixList of another year, this program has/,
  ],
  ['the status of nothing', ['status', 'nothing'], /there is no crawl in "nothing"/],
  ['the status of two crawls', ['status', 'done', 'done'], /"done" is one word too many/],
  [
    'pages in an unknown format',
    ['pages', 'done', '--format', 'xml'],
    /--format "xml" is not known: choose one of table, jsonl, csv/,
  ],
  [
    'pages with an outcome that is none',
    ['pages', 'done', '--outcome', 'robots'],
    /--outcome "robots" is not known \(did you mean robots-denied\?\): "gossamer status <dir>" shows which there are/,
  ],
  [
    'pages with a status that is none',
    ['pages', 'done', '--status', 'ok'],
    /--status "ok" is not understood: write a whole number/,
  ],
  ['show without a URL', ['show', 'done'], /the URL is missing: gossamer show <dir>... <url>/],
  ['show of what is no URL', ['show', 'done', 'http://['], /"http:\/\/\[" is not a URL that a crawl can have/],
  [
    'a disk with less room than must stay free',
    [...GOOD.slice(0, 4), '--disk-reserve', '1000TiB', '--dir', 'new'],
    /less than --disk-reserve 1000 TiB: free some space or lower it/,
    4,
  ],
  ['a resume on such a disk', ['resume', 'done', '--disk-reserve', '1000TiB'], /less than --disk-reserve/, 4],
];

/** Every file with its size and its time: what a wrong use must not change. */
const listing = (of = home): string[] =>
  readdirSync(of, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(of, name));
      return `${name} ${size} ${mtimeMs}`;
    });

/** One sentence for a person; no stack. */
const assertSentence = (ran: Ran, says: RegExp): void => {
  assert.match(ran.stderr, /^gossamer: [^\n]+\n$/);
  assert.match(ran.stderr, says);
  assert.doesNotMatch(ran.stderr, / at .*:\d+:\d+/);
  assert.equal(ran.stdout, '');
};

// Two run at once, each with files of its own: some make a crawl's directory, and take it away again.
describe('wrong use', { concurrency: 2 }, () => {
  for (const [what, args, says, code = 2] of WRONG_USES) {
    test(`${what} gets a sentence and exit code ${code}, and nothing is changed`, async () => {
      const own = mkdtempSync(join(tmpdir(), 'gossamer-wrong-'));
      try {
        cpSync(home, own, { recursive: true });
        const before = listing(own);
        const ran = await runBinary(args, { cwd: own });
        assertCode(ran, code);
        assertSentence(ran, says);
        assert.deepEqual(listing(own), before);
      } finally {
        rmSync(own, { recursive: true });
      }
    });
  }
});

test('seeds without a good one are named one by one before the sentence, and nothing is changed', async () => {
  const before = listing();
  const ran = await runBinary(['crawl', 'no-seeds.txt', ...EMAIL, ...RESERVE], { cwd: home });
  assertCode(ran, 2);
  const [third, fourth, ...rest] = ran.stderr.trimEnd().split('\n');
  assert.match(third ?? '', /^no-seeds\.txt line 3: .*; skipped$/);
  assert.match(fourth ?? '', /^no-seeds\.txt line 4: .*; skipped$/);
  assert.deepEqual(rest, [
    'gossamer: there is no good seed in "no-seeds.txt": give a domain, host or URL a line, or --url',
  ]);
  assert.deepEqual(listing(), before);
});

test('too few file descriptors for the concurrency get a sentence, and nothing is changed', async () => {
  const before = listing();
  const ran = await runBinary([...GOOD, '--concurrency', '1000', '--fetchers', '1'], {
    cwd: home,
    command: ['/bin/sh', '-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, GOSSAMER],
  });
  assertCode(ran, 2);
  assertSentence(
    ran,
    /1000 concurrent visits need \d+ file descriptors, but 256 are allowed: raise the limit .* or lower --concurrency/,
  );
  assert.deepEqual(listing(), before);
});

test('bad seed lines are reported with their number, and the crawl goes on', () =>
  onStage(plainPlan(4, 8), async (stage) => {
    writeFileSync(
      stage.seedFile,
      ['# seeds', 'ftp://one.example/', ...stage.world.seeds(), '', 'http://[half/']
        .map((line) => `${line}\n`)
        .join(''),
    );
    const ran = await stage.crawl();
    assertCode(ran, 0);
    assert.deepEqual(
      [...ran.stderr.matchAll(/^.*seeds\.txt line (\d+): .*; skipped$/gm)].map((found) => found[1]),
      ['2', '5'],
    );
    assert.deepEqual(stage.report().missing, []);
  }));
