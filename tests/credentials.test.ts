/** Credentials: what a person writes, the headers it makes, and where these go. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { readCredentialsFile } from '../src/cli/credentials-file.ts';
import { readConfigFile } from '../src/cli/config-file.ts';
import { readCredentials, type Credentials, type SecretHeaders } from '../src/model/credentials.ts';
import { UsageError } from '../src/model/read-settings.ts';
import { answered, failed, onLoopback, requestFor } from './support/loopback.ts';
import { selfSigned } from './support/self-signed.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-credentials-'));
after(() => rmSync(home, { recursive: true }));

const ENVIRONMENT = { TOKEN: 'sesame-token', EMPTY: '' };

const fileWith = (text: string, name = 'credentials.yaml', mode = 0o600): string => {
  const path = join(home, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};

const said: string[] = [];
const readText = (text: string, name?: string): Promise<SecretHeaders> =>
  readCredentialsFile(fileWith(text, name), { say: (line) => said.push(line), environment: ENVIRONMENT });

const WHOLE = `# who we are there
https://one.example:
  basic: me:pass:word
  cookie: "a=b; c=d"
https://two.example:8443:
  bearer: 12345
  header: ["X-Api-Key: k", 'X-Tenant: t: u']
https://Three.example/:
  bearer: $TOKEN
https://four.example:
  basic: me:\${TOKEN}
  header: 'X-Api-Key: $TOKEN'
`;

const EXPECTED = {
  'https://one.example': [
    ['Authorization', `Basic ${Buffer.from('me:pass:word').toString('base64')}`],
    ['Cookie', 'a=b; c=d'],
  ],
  'https://two.example:8443': [
    ['Authorization', 'Bearer 12345'],
    ['X-Api-Key', 'k'],
    ['X-Tenant', 't: u'],
  ],
  'https://three.example': [['Authorization', 'Bearer sesame-token']],
  'https://four.example': [
    ['Authorization', `Basic ${Buffer.from('me:sesame-token').toString('base64')}`],
    ['X-Api-Key', 'sesame-token'],
  ],
};

describe('a file of credentials', () => {
  test('makes headers for each of its origins, with values of the environment where it names them', async () => {
    assert.deepEqual(Object.fromEntries(await readText(WHOLE)), EXPECTED);
    const json = '{ "https://one.example": { "basic": "me:pass:word", "cookie": "a=b; c=d" } }';
    assert.deepEqual([...(await readText(json, 'credentials.json'))], [Object.entries(EXPECTED)[0]]);
    assert.deepEqual(said, []);
  });

  test('as the how-to page shows it is understood', async () => {
    const page = readFileSync(new URL('../docs/how-to/requests-and-credentials.md', import.meta.url), 'utf8');
    const [, example] = /```yaml\n(# credentials\.yaml\n[^`]+)```/.exec(page) ?? [];
    const environment = { API_TOKEN: 't', API_KEY: 'k' };
    const read = await readCredentialsFile(fileWith(example!), { say: assert.fail, environment });
    assert.deepEqual(
      [...read].map(([origin, headers]) => [origin, ...headers.map(([name]) => name)]),
      [
        ['https://intern.example.org', 'Authorization'],
        ['https://api.example.org:8443', 'Authorization', 'Cookie', 'X-Tenant', 'X-Api-Key'],
      ],
    );
  });

  test('that others can read gets a warning', async () => {
    for (const mode of [0o640, 0o604, 0o644]) {
      const path = fileWith(WHOLE, 'open.yaml', mode);
      const lines: string[] = [];
      await readCredentialsFile(path, { say: (line) => lines.push(line), environment: ENVIRONMENT });
      assert.deepEqual(lines, [
        `"${path}" holds credentials and can be read by other users of this machine: chmod 600 keeps them out`,
      ]);
    }
  });

  const wrong: readonly (readonly [what: string, text: string, sentence: RegExp])[] = [
    [
      'an http origin',
      'http://one.example:\n  bearer: sesame\n',
      /yaml line 1 column 1: credentials are never sent over http, not even to this machine: write an https origin$/,
    ],
    [
      'an http origin of this machine',
      'http://127.0.0.1:\n  bearer: sesame\n',
      /never sent over http, not even to this/,
    ],
    ['a host alone', 'one.example:\n  bearer: sesame\n', /line 1 column 1: this is no origin: write an https origin/],
    ['a path', 'https://one.example/a:\n  bearer: sesame\n', /this is more than an origin/],
    ['a password in the origin', 'https://me:sesame@one.example:\n  bearer: a\n', /this is more than an origin/],
    ['a star', 'https://*.one.example:\n  bearer: sesame\n', /credentials are for one host, without a \*/],
    [
      'an origin twice',
      'https://one.example:\n  bearer: sesame\nhttps://one.example:443:\n  bearer: sesame\n',
      /line 3 column 1: https:\/\/one\.example is given twice/,
    ],
    [
      'the same line twice',
      'https://me:sesame@a.b:\n  bearer: a\nhttps://me:sesame@a.b:\n  bearer: a\n',
      /given twice/,
    ],
    [
      'a kind that is none',
      'https://one.example:\n  baerer: sesame\n',
      /line 2 column 11: baerer is no kind of credentials: there are basic, bearer, cookie, header/,
    ],
    ['no value', 'https://one.example:\n  bearer:\n', /bearer has no value/],
    [
      'a variable that is not set',
      'https://one.example:\n  bearer: $NOTHING\n',
      /line 2 column 11: bearer names the environment variable NOTHING, which is not set/,
    ],
    ['a variable that is empty', 'https://one.example:\n  basic: me:${EMPTY}\n', /variable EMPTY, which is not set/],
    ['a user without a password', 'https://one.example:\n  basic: sesame\n', /write user:password/],
    ['the word Bearer', 'https://one.example:\n  bearer: Bearer sesame\n', /without the word Bearer/],
    ['a line end in a cookie', 'https://one.example:\n  cookie: "a=b\\r\\nX-Evil: sesame"\n', /no list of cookies/],
    ['a header of ours', 'https://one.example:\n  header: "Host: sesame"\n', /header Host is set by the crawler/],
    [
      'a line end in a header',
      'https://one.example:\n  header: "X-A: sesame\\r\\nB: c"\n',
      /cannot be sent in a header/,
    ],
    [
      'two logins',
      'https://one.example:\n  basic: a:sesame\n  bearer: sesame\n',
      /line 3 column 11: bearer makes a second Authorization header: give one for each origin/,
    ],
    ['a header without quotes', 'https://one.example:\n  header: X-Key: sesame\n', /not YAML: put a text with a colon/],
    ['an alias of nothing', 'https://one.example:\n  bearer: *sesame\n', /line 2 column 11: .* in(to)? quotes/],
    ['a broken text', 'https://one.example: "sesame\n', /this is not YAML: put a text/],
    ['no mapping below an origin', 'https://one.example: sesame\n', /this is not a mapping/],
    ['a list', '- sesame\n', /this is not a mapping/],
    ['deeper values', 'https://one.example:\n  header: { a: sesame }\n', /values inside values/],
  ];
  for (const [what, text, sentence] of wrong)
    test(`with ${what} is refused with the place, and no secret is quoted`, () =>
      assert.rejects(readText(text), (error: Error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, sentence);
        assert.doesNotMatch(error.message, /sesame/);
        return true;
      }));

  test('that is not there, and one in a file of settings, get a sentence', async () => {
    const parts = { say: () => {}, environment: {} };
    await assert.rejects(readCredentialsFile(join(home, 'nothing.yaml'), parts), /cannot be read: it does not exist/);
    await assert.rejects(
      readConfigFile(fileWith('credentials: a.yaml\n', 'crawl.yaml')),
      /credentials is not kept in a file: give --credentials on the command line/,
    );
  });
});

test('a program gives credentials as they are, and a mistake is named without its value', () => {
  const right: Credentials = { 'https://one.example': { basic: 'me:$TOKEN', header: ['X-A: 1', 'X-B: 2'] } };
  assert.deepEqual(readCredentials(right).get('https://one.example'), [
    ['Authorization', `Basic ${Buffer.from('me:$TOKEN').toString('base64')}`],
    ['X-A', '1'],
    ['X-B', '2'],
  ]);
  const wrong: readonly (readonly [Credentials, RegExp])[] = [
    [{ 'http://one.example': { bearer: 'sesame' } }, /^credentials: credentials are never sent over http/],
    [{ 'https://one.example': { bearer: 'a sesame' } }, /^credentials for https:\/\/one\.example: bearer is no token/],
    [{ 'https://one.example': { bearer: 5 as never } }, /bearer is not a text/],
  ];
  for (const [given, sentence] of wrong)
    assert.throws(
      () => readCredentials(given),
      ({ message }: Error) => sentence.test(message) && !message.includes('sesame'),
    );
});

const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const SECRET = 'Bearer sesame';

test('credentials go with pages and sitemaps of their origin alone, and are not in the request that is kept', () =>
  onLoopback(async (place) => {
    const certificate = selfSigned('own.test');
    setDefaultCACertificates([certificate.cert]);
    const server = await place.serve((socket) => socket.end(HELLO), certificate);
    const plain = await place.serve((socket) => socket.end(HELLO));
    const own = `https://127.0.0.1:${server.port}`;
    const fetcher = place.fetcher({
      credentials: new Map([[own, [['Authorization', SECRET]]]]),
    });
    const sentTo = async (url: string, kind?: 'page' | 'sitemap' | 'robots'): Promise<boolean> => {
      const exchange = answered(await fetcher.fetch(requestFor(url, { kind })));
      assert.doesNotMatch(exchange.requestHead, /sesame/);
      const heads = url.startsWith('https') ? server.heads : plain.heads;
      assert.equal(exchange.requestHead, heads.at(-1)!.replace(`Authorization: ${SECRET}\r\n`, ''));
      return heads.at(-1)!.includes(`\r\nAuthorization: ${SECRET}\r\n`);
    };
    assert.equal(await sentTo(`${own}/`, 'page'), true);
    assert.equal(await sentTo(`${own}/sitemap.xml`, 'sitemap'), true);
    assert.equal(await sentTo(`${own}/robots.txt`, 'robots'), false);
    assert.equal(await sentTo(`${own}/moved-robots`, 'robots'), false);
    assert.equal(await sentTo(`${own}/robots.txt`, 'page'), false);
    assert.equal(await sentTo(`${own}/`), false);
    assert.equal(await sentTo(`https://localhost:${server.port}/`, 'page'), false);
    assert.equal(await sentTo(`http://127.0.0.1:${plain.port}/`, 'page'), false);
  }));

test('an origin gets credentials only with a certificate that can be verified; others need none', () =>
  onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end(HELLO), selfSigned('own.test'));
    const own = `https://127.0.0.1:${server.port}`;
    const fetcher = place.fetcher({ credentials: new Map([[own, [['Authorization', SECRET]]]]) });
    for (const kind of ['page', 'robots'] as const) {
      const { cause } = failed(await fetcher.fetch(requestFor(`${own}/`, { kind })));
      assert.deepEqual([cause, server.heads.length], ['tls', 0]);
    }
    const other = answered(await fetcher.fetch(requestFor(`https://localhost:${server.port}/`, { kind: 'page' })));
    assert.equal(other.tls, 'unverified');
  }));
