/** Headers that a person adds to requests: which there can be, and the sentence for each that there cannot. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHeader, HEADER_VALUE_CHARS_MAX, HEADERS_MAX } from '../src/model/request-headers.ts';
import { completeSettings, UsageError } from '../src/model/read-settings.ts';
import type { Settings } from '../src/model/settings.ts';
import { answered, onLoopback, requestFor } from './support/loopback.ts';

const refusal = (given: Partial<Settings>): string => {
  try {
    completeSettings({ email: 'me@example.org', ...given }, 2);
    return '';
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error.message;
  }
};

test('a header is a name and a value, without the white space around it', () => {
  assert.deepEqual(readHeader('X-Purpose:  a study '), ['X-Purpose', 'a study']);
  assert.deepEqual(readHeader('DNT:1'), ['DNT', '1']);
  assert.deepEqual(readHeader('X-When: 10:30'), ['X-When', '10:30']);
  assert.equal(refusal({ headers: ['X-Purpose: a study', 'DNT: 1', 'Referer: https://example.org/'] }), '');
});

for (const [what, header, sentence] of [
  ['no colon', 'X-Purpose', /--header "X-Purpose" is not a header: write 'Name: value'/],
  ['no name', ': a', /is not a header/],
  ['no value', 'X-Purpose: ', /--header X-Purpose has no value/],
  ['a space in its name', 'X Purpose: a', /is not a header/],
  ['a line end in its value', 'X-A: b\r\nX-Evil: 1', /--header X-A has characters that cannot be sent/],
  ['a letter outside of ASCII', 'X-A: ä', /--header X-A has characters that cannot be sent/],
  ['too long a value', `X-A: ${'a'.repeat(HEADER_VALUE_CHARS_MAX + 1)}`, /--header X-A has a value of 8001 characters/],
  ['the name Host', 'Host: other.example', /--header Host is set by the crawler/],
  ['the name Connection', 'connection: close', /--header connection is set by the crawler/],
  ['the name Content-Length', 'Content-Length: 5', /set by the crawler/],
  ['the name Transfer-Encoding', 'Transfer-Encoding: chunked', /set by the crawler/],
  ['the name Accept', 'Accept: */*', /set by the crawler/],
  ['the name Accept-Encoding', 'Accept-Encoding: zstd', /set by the crawler/],
  ['the name Range', 'Range: bytes=0-5', /pages are fetched whole/],
  ['the name If-None-Match', 'If-None-Match: "a"', /pages are fetched whole/],
  ['the name User-Agent', 'User-Agent: a', /--header User-Agent has a flag of its own: use --user-agent/],
  ['the name From', 'From: a@b.example', /--header From has a flag of its own: use --email/],
  ['the name Accept-Language', 'Accept-Language: de', /use --accept-language/],
] as const)
  test(`a header with ${what} is refused in a sentence`, () => assert.match(refusal({ headers: [header] }), sentence));

test('a header that carries a secret is refused without saying it, with the way to give it', () => {
  for (const name of [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'X-Api-Key',
    'apikey',
    'X-Auth-Token',
    'X-Amz-Security-Token',
    'Ocp-Apim-Subscription-Key',
    'X-Session-Id',
    'X-Secret',
    'X-AuthToken',
    'X_CSRF_Token',
    'X-Hub-Signature',
  ]) {
    const sentence = refusal({ headers: [`${name}: open-sesame`] });
    assert.match(sentence, new RegExp(`--header ${name} would send a secret to every site: .* --credentials FILE`));
    assert.doesNotMatch(sentence, /sesame/);
  }
  for (const name of ['X-Author', 'X-Keyboard', 'X-Purpose', 'Sec-GPC'])
    assert.equal(refusal({ headers: [`${name}: 1`] }), '');
});

test('a header that is given twice, or one too many, is refused', () => {
  assert.match(refusal({ headers: ['X-A: 1', 'x-a: 2'] }), /--header x-a is given twice/);
  const many = Array.from({ length: HEADERS_MAX + 1 }, (_, i) => `X-${i}: 1`);
  assert.match(refusal({ headers: many }), /--header is given 33 times, and the most is 32/);
  assert.match(refusal({ headers: [5 as never] }), /--header \[5\] is not understood: give a list of texts/);
});

test('languages are those of RFC 9110, and others are refused in a sentence', () => {
  for (const right of ['', 'de', 'de-CH-1996', '*', 'de, en;q=0.8,fr ; q=1.000 , *;q=0'])
    assert.equal(refusal({ acceptLanguage: right }), '', right);
  for (const wrong of ['de_AT', 'de;q=2', 'de,', 'deutsche Sprache', 'de\r\nX-Evil: 1', 'de;q=0.1234', ',', 'dé'])
    assert.match(refusal({ acceptLanguage: wrong }), /--accept-language .* is not a list of languages: write one such/);
  assert.match(refusal({ acceptLanguage: Array(200).fill('de').join() }), /has 599 characters, and the most is 256/);
});

test('headers are looked up by the address of a request, and composed once for each list of them', () =>
  onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    let composed = 0;
    const watched = (value: string): readonly (readonly [string, string])[] =>
      Object.defineProperty([['X-For', value] as const], 0, {
        get: () => {
          composed++;
          return ['X-For', value] as const;
        },
      });
    const lists = { '/a': watched('a'), '/b': watched('b') } as const;
    const fetcher = place.fetcher({
      acceptLanguage: 'de',
      headersFor: ({ pathname }) => lists[pathname as keyof typeof lists] ?? [],
    });
    const sent: string[] = [];
    for (const path of ['a', 'b', 'c', 'a', 'b', 'a']) {
      const { requestHead } = answered(await fetcher.fetch(requestFor(server.url + path)));
      assert.match(requestHead, /\r\nAccept-Language: de\r\n/);
      sent.push(/\r\nX-For: (.*)\r\n/.exec(requestHead)?.[1] ?? '-');
    }
    assert.deepEqual(sent, ['a', 'b', '-', 'a', 'b', 'a']);
    assert.equal(composed, 2);
    assert.deepEqual(
      server.heads.map((head) => /\r\nX-For: (.*)\r\n/.exec(head)?.[1] ?? '-'),
      sent,
    );
  }));
