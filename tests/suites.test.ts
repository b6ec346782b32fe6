/** The public suites as `npm run suites` reads them: small files of the same form, with a case of every verdict. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gossamer-suites-'));
after(() => rmSync(home, { recursive: true }));

/** What the command prints for a folder with these files, without what it says of missing suites; and its exit code. */
const ran = (
  name: string,
  files: Readonly<Record<string, string | Buffer>>,
): { lines: string[]; code: number | null } => {
  const folder = join(home, name);
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { stdout, status } = spawnSync(process.execPath, ['tools/suites.ts', folder], { cwd: root, encoding: 'utf8' });
  return {
    lines: stdout.split('\n').filter((line) => line !== '' && !line.includes(': missing; get it')),
    code: status,
  };
};

test('a suite that is not there is named, with where to get it', () => {
  const { status, stdout } = spawnSync(process.execPath, ['tools/suites.ts', home], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^llhttp, responses: missing; get it from https:\/\/github\.com\/nodejs\/llhttp, test\/response$/m,
  );
  assert.equal(stdout.match(/missing; get it from https:\/\//g)?.length, 8);
});

test('html5lib: tokens, trees and encodings', () => {
  const tests = [
    { description: 'a link', input: '<a href=/x>' },
    { description: 'an escape', input: '<a href="/\\u0041">', doubleEscaped: true },
    { description: 'raw', input: '</style>', initialStates: ['RAWTEXT state'] },
  ];
  const { lines, code } = ran('html5lib', {
    'tokenizer/one.test': JSON.stringify({ tests }),
    'tree-construction/one.dat':
      '#data\n<p>a\n#b\n#errors\n#document\n| x\n\n#data\n<td>\n#errors\n#document-fragment\ntr\n#document\n',
    'encoding/one.dat':
      '#data\n<meta charset=iso8859-2>\n#encoding\niso-8859-2\n\n#data\n<p>\n#encoding\nwindows-1252\n\n#data\n<p>\n#encoding\nbig5\n',
  });
  assert.deepEqual(lines, [
    'html5lib-tests, tokenizer: 2 passed, 0 failed, 1 left out',
    '  left out: 1: it begins inside of a raw text element',
    'html5lib-tests, tree construction (now in WPT): 1 passed, 0 failed, 1 left out',
    '  left out: 1: it is a fragment',
    'html5lib-tests, encoding: 2 passed, 1 failed, 0 left out',
    '  failed: encoding/one.dat: number 3: "windows-1252" instead of "big5"',
  ]);
  assert.equal(code, 1);
});

test('WPT: addresses, hosts and characters', () => {
  const urls = [
    'a comment',
    { input: '/b/../c?#x', base: 'http://a.example/', href: 'http://a.example/c?#x' },
    { input: 'http://a b/', base: null, failure: true },
    { input: 'x', base: 'about:blank', failure: true },
    { input: '/d', base: 'http://a.example/', href: 'http://a.example/e' },
  ];
  const page =
    '<meta charset=euc-jp><span data-cp="3042" data-bytes="A4 A2">\xa4\xa2</span><span data-cp="3044">\xa4\xa2</span>';
  const { lines } = ran('wpt', {
    'url/resources/urltestdata.json': JSON.stringify(urls),
    'url/resources/toascii.json': JSON.stringify([{ input: 'ä.example', output: 'xn--4ca.example' }]),
    'encoding/legacy-mb-japanese/euc-jp/resources/eucjp_chars.html': Buffer.from(page, 'latin1'),
  });
  assert.deepEqual(lines, [
    'WPT, url: 2 passed, 1 failed, 1 left out',
    '  failed: url/resources/urltestdata.json: "/d" on "http://a.example/": "http://a.example/d" instead of "http://a.example/e"',
    '  left out: 1: no page has such a base',
    'WPT, hosts in other scripts: 1 passed, 0 failed, 0 left out',
    'WPT, legacy encodings: 1 passed, 1 failed, 0 left out',
    '  failed: encoding/legacy-mb-japanese/euc-jp/resources/eucjp_chars.html: 3044 in euc-jp: "あ" instead of "い"',
  ]);
});

test('robots.txt of Google, and responses of llhttp', () => {
  const robots = `TEST(RobotsUnittest, One) {
  const absl::string_view text =
      "User-agent: FooBot\\n"
      "Disallow: /x\\n";
  EXPECT_FALSE(IsUserAgentAllowed(text, "FooBot", "http://a.example/x"));
  EXPECT_TRUE(
      IsUserAgentAllowed(text, "FooBot", "http://a.example/y"));
  EXPECT_TRUE(IsUserAgentAllowed(text, "FooBot", "http://a.example/x,y"));
  EXPECT_TRUE(IsUserAgentAllowed(text, "FooBot", made(1)));
}`;
  const log = (body: string): string =>
    `off=0 len=4 span[protocol]="HTTP"\noff=9 headers complete status=200 v=1/1\noff=9 len=2 span[body]="${body}"\noff=9 message complete\n`;
  const response = (input: string, says: string, meta = '{"type": "response"}'): string =>
    `## ${input.length}\n\n<!-- meta=${meta} -->\n\`\`\`http\n${input}\n\`\`\`\n\nsome words\n\n\`\`\`log\n${says}\`\`\`\n\n`;
  const head = 'HTTP/1.1 200 OK\nContent-Length: 2\n\n';
  const { lines } = ran('others', {
    'robots_test.cc': robots,
    'test/response/one.md':
      response(`${head}hi`, log('hi')) +
      response(`${head}yo!`, log('no')) +
      response('', 'error code=9\n') +
      response('', '', '{"type": "response-lenient"}'),
  });
  assert.deepEqual(lines, [
    'Google, robots.txt: 2 passed, 1 failed, 1 left out',
    '  failed: robots_test.cc: One: text, "FooBot", "http://a.example/x,y": false instead of true',
    '  left out: 1: its arguments are computed',
    'llhttp, responses: 1 passed, 1 failed, 2 left out',
    '  failed: test/response/one.md: 38: {"status":200,"body":"yo"} instead of {"status":200,"body":"no"}',
    '  left out: 1: llhttp refuses it',
    '  left out: 1: it is about a setting of llhttp',
  ]);
});
