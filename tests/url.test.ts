/** The canonical form of an address. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { canonicalize, resolverOf, URL_CHARS_MAX } from '../src/url/canonical.ts';
import { hasEndlessAuthority } from '../src/url/authority.ts';
import { readLocation } from '../src/url/location.ts';
import { normalizePercent } from '../src/url/percent.ts';

const canonical = (raw: string, base?: string): string => {
  const address = canonicalize(raw, base);
  return typeof address === 'string' ? address : address.url;
};

/** A small seeded generator (a linear congruence), so that a failure can be run again. */
const createChance = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const FORMS: readonly (readonly [string, string])[] = [
  ['HTTP://Example.ORG', 'http://example.org/'],
  ['http://example.org:80/', 'http://example.org/'],
  ['https://example.org:443/a', 'https://example.org/a'],
  ['https://example.org:80/a', 'https://example.org:80/a'],
  ['http://example.org/#top', 'http://example.org/'],
  ['http://example.org/a?b=c#d?e#f', 'http://example.org/a?b=c'],
  ['http://user:pass@example.org/', 'http://example.org/'],
  ['http://user@example.org:8080/@x', 'http://example.org:8080/@x'],
  ['http://example.org/mail@example.com', 'http://example.org/mail@example.com'],
  ['http://example.org?x=@y', 'http://example.org/?x=@y'],
  ['http://example.org/a/./b/../c/%2e%2E/d', 'http://example.org/a/d'],
  ['http://example.org/%7euser/%61%2f%3A', 'http://example.org/~user/a%2F%3A'],
  ['http://example.org/?q=%7e%c3%a9%26', 'http://example.org/?q=~%C3%A9%26'],
  ['http://example.org/é?é', 'http://example.org/%C3%A9?%C3%A9'],
  ['http://example.org/a?', 'http://example.org/a'],
  ['http://example.org/a?#x', 'http://example.org/a'],
  ['http://example.org/a??', 'http://example.org/a??'],
  ['http://example.org/a/', 'http://example.org/a/'],
  ['http://example.org/a', 'http://example.org/a'],
  ['http://example.org/A?B=1&a=2&A=0', 'http://example.org/A?B=1&a=2&A=0'],
  ['http://example.org/a|b?c|d', 'http://example.org/a|b?c|d'],
  ['http://example.org/a..', 'http://example.org/a..'],
  ['http://example.org./x.', 'http://example.org/x.'],
  ['http://example.org.:81/', 'http://example.org:81/'],
  ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
  ['http://[2001:DB8::0001]:8080/', 'http://[2001:db8::1]:8080/'],
  ['http://[::ffff:1.2.3.4]/', 'http://[::ffff:102:304]/'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http:\\\\example.org\\a', 'http://example.org/a'],
  [' \thttp://exa\nmple.org/ ', 'http://example.org/'],
  ['http://example.org//a//b', 'http://example.org//a//b'],
];

test('every way to write an address has one canonical form', () => {
  for (const [raw, expected] of FORMS) assert.equal(canonical(raw), expected, raw);
});

test('a relative address is resolved against its base', () => {
  const base = 'https://example.org/dir/page.html?x=1';
  assert.equal(canonical('other', base), 'https://example.org/dir/other');
  assert.equal(canonical('../up#x', base), 'https://example.org/up');
  assert.equal(canonical('?y=2', base), 'https://example.org/dir/page.html?y=2');
  assert.equal(canonical('//cdn.example.com/a', base), 'https://cdn.example.com/a');
  assert.equal(canonical('', base), base);
  assert.equal(canonical('#top', base), base);
});

test('an address comes with its origin, its host without port, and its path with the query', () => {
  assert.deepEqual(canonicalize('https://u@A.example.org.:8443/b/?c#d'), {
    url: 'https://a.example.org:8443/b/?c',
    origin: 'https://a.example.org:8443',
    host: 'a.example.org',
    path: '/b/?c',
  });
  assert.deepEqual(canonicalize('http://[::1]:81'), {
    url: 'http://[::1]:81/',
    origin: 'http://[::1]:81',
    host: '[::1]',
    path: '/',
  });
  assert.deepEqual(canonicalize('http://[::1]'), {
    url: 'http://[::1]/',
    origin: 'http://[::1]',
    host: '[::1]',
    path: '/',
  });
});

test('what is not an address of a web page is refused by name', () => {
  for (const raw of [
    'mailto:a@example.org',
    'javascript:void(0)',
    'ftp://example.org/',
    'data:,x',
    'tel:+1',
    'file:///etc',
  ]) {
    assert.equal(canonical(raw, 'http://example.org/'), 'not-http', raw);
  }
  for (const raw of [
    '/relative',
    'http://',
    'http://exa mple.org/',
    'http://example.org:99999/',
    'http://1.2.3.4.5/',
    '',
  ]) {
    assert.equal(canonical(raw), 'not-a-url', raw);
  }
});

test('a host that no name server could look up is refused', () => {
  const label = 'a'.repeat(60);
  const longest = `${label}.${label}.${label}.${label}.${'b'.repeat(9)}`;
  assert.equal(longest.length, 253);
  assert.equal(canonical(`http://${longest}/`), `http://${longest}/`);
  for (const host of ['.', '..', 'a..b', '.a', 'a..', '0x7f.1..', `${longest}b`]) {
    assert.equal(canonical(`http://${host}/`), 'not-a-url', host);
  }
});

test('an address of 2,000 characters is taken and one more is too long', () => {
  const stem = 'http://example.org/';
  const longest = stem + 'a'.repeat(URL_CHARS_MAX - stem.length);
  assert.equal(canonical(longest), longest);
  assert.equal(canonical(`${longest}a`), 'too-long');
  assert.equal(canonical(`${longest}#and a fragment`), longest, 'only the canonical form is measured');
  assert.equal(
    canonical(`http://example.org/#${'a'.repeat(1_000_000)}`),
    'too-long',
    'but endless text is not even parsed',
  );
});

test('a base that is no address, or endless, spoils relative addresses only', () => {
  for (const base of [`http://example.org/${'a'.repeat(1_000_000)}/`, 'http://', 'no address', '']) {
    assert.equal(canonical('http://example.com/x', base), 'http://example.com/x');
    assert.equal(canonical('HTTP://example.com/%7ex', base), 'http://example.com/~x');
    assert.equal(canonical('x', base), 'not-a-url');
  }
});

const BASES = [
  'http://a.example/',
  'https://a.example/deep/er/page?x=1',
  'HTTP://A.Example:80/x',
  'https://a.example.:8443/',
  'http://me:pw@a.example/b',
  'http://[::1]:8080/',
  'http://0x7f.1/',
  'https://b\u00fccher.example/',
  'http://..bad/',
  'data:text/html,x',
  'not a url',
  '',
];
/** What plain addresses are made of, and what makes one not plain. */
const PIECES = [
  '/',
  '/',
  '/',
  'a',
  'Z9',
  '_',
  '-',
  '~',
  '.',
  '..',
  '?',
  '=',
  '&',
  '#',
  '%',
  '%41',
  '%2e',
  '\\',
  ' ',
  '\n',
  '\t',
  '@',
  ':',
  '|',
  '+',
  ',',
  ';',
  '\u00e9',
  'x1',
  'b.html',
  'http://a.example',
  'https://a.example',
  'http://a.example:80',
  'https://a.example:8443',
  'HTTP://A.EXAMPLE',
  'http:',
  '//c.example',
  'javascript:',
];

const HOSTS = [
  'a.example',
  'a',
  'a.b.c.d.example',
  'A.example',
  '-.example',
  'a--b.example',
  '-a-.example',
  'xn--bcher-kva.example',
  'xn--x.example',
  'xn--a.example',
  'xn--abc-.example',
  'xn--zzzzzzz.example',
  'xn--99999999.example',
  'xn--.example',
  'a.xn--p1ai',
  'a.xn--zz',
  'a.xnx',
  '1.2.3.4',
  '1.2.3.4.example',
  '1.2',
  '0x7f.1',
  '0x.a',
  'a.0x1',
  'a.1',
  'a.09',
  'a.1a',
  'a.e',
  'a..example',
  '.a.example',
  'a.example.',
  'a_b.example',
  'a%2e.example',
  'a.\u00e9',
  'a b.example',
  'me@a.example',
  'a.example:',
  '[::1]',
  'localhost',
  'xxn--a.example',
  'a.axn--b.example',
  `${'a'.repeat(63)}.example`,
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(122)}example`,
  `${'a.'.repeat(123)}example`,
  `${'a.'.repeat(124)}example`,
  `${'a.'.repeat(200)}example`,
];

test('an address that is plain is what parsing makes of it', () => {
  const chance = createChance(11);
  const plain = { path: 0, url: 0 };
  for (const base of BASES) {
    const resolve = resolverOf(base);
    const same = (raw: string): void => {
      const parsed = canonicalize(` ${raw}`, base); // the blank goes, but it is not plain with it
      // So many times that a message is made only for what differs.
      const found = [canonicalize(raw, base), resolve(raw)];
      if (!isDeepStrictEqual(found, [parsed, parsed]))
        assert.deepEqual(found, [parsed, parsed], JSON.stringify([raw.slice(0, 100), base]));
    };
    for (const first of ['', ...PIECES])
      for (const second of PIECES) for (const third of ['', ...PIECES]) same(first + second + third);
    for (let i = 0; i < 20_000; i++) {
      const raw = Array.from({ length: 1 + chance(9) }, () => PIECES[chance(PIECES.length)]).join('');
      same(raw);
      if (/^\/[\w/]+$/.test(raw)) plain.path++;
      if (/^https?:\/\/a\.example\/[\w/]*$/.test(raw)) plain.url++;
    }
    for (const length of [URL_CHARS_MAX - 30, URL_CHARS_MAX])
      for (let i = 0; i < 40; i++) for (const head of ['/', 'http://c.example/']) same(head + 'x'.repeat(length - i));
  }
  for (const host of HOSTS)
    for (const rest of ['', '/', '/a', ':80/', ':8080/a', '?q', '/?q', '/a?'])
      for (const scheme of ['http://', 'https://', 'HTTP://', 'ftp://', 'http:/', 'http:', 'http//', '']) {
        const raw = scheme + host + rest;
        assert.deepEqual(canonicalize(raw), canonicalize(` ${raw}`), raw);
      }
  assert.ok(plain.path > 300 && plain.url > 100, JSON.stringify(plain));
});

test('escapes are never decoded into something that has another meaning', () => {
  assert.equal(normalizePercent('/a%2fb%3F%23%25%20%7c'), '/a%2Fb%3F%23%25%20%7C');
  assert.equal(normalizePercent('%41%5A%61%7a%30%39%2d%2e%5f%7e'), 'AZaz09-._~');
  assert.equal(normalizePercent('/%252e'), '/%252e', 'an escaped percent sign protects what follows');
  for (const odd of ['/%%32%65', '/%2', '/%', '/%zz%41', '/%4', '/%%41']) assert.equal(normalizePercent(odd), odd);
});

const ODDMENTS = [
  'a',
  'B',
  '0',
  '.',
  '..',
  '/',
  '//',
  '\\',
  '?',
  '#',
  '@',
  ':',
  ':80',
  ':443',
  ':8080',
  '%',
  '%2',
  '%2e',
  '%2E',
  '%41',
  '%7e',
  '%25',
  '%2f',
  '%c3%a9',
  '%00',
  '|',
  '^',
  '{',
  '}',
  '`',
  '"',
  "'",
  '<',
  ' ',
  '\t',
  '\n',
  '+',
  '&',
  '=',
  ';',
  '~',
  '*',
  '$',
  '[',
  ']',
  'é',
  'ß',
  '日本',
  '\u{1F600}',
  '\uD800',
  '\u00AD',
  '。',
  'xn--',
  'xn--bcher-kva',
  '[::1]',
  '1.2.3.4',
  '0x7f',
  'www.',
  'example.org',
];

test('the canonical form of a canonical form is itself', () => {
  let accepted = 0;
  for (let seed = 1; seed <= 30_000; seed += 1) {
    const chance = createChance(seed * 7919);
    const pick = (count: number): string =>
      Array.from({ length: chance(count + 1) }, () => ODDMENTS[chance(ODDMENTS.length)]).join('');
    const host = chance(3) === 0 ? pick(4) : 'example.org';
    const raw = `${chance(2) === 0 ? 'http' : 'https'}://${host}/${pick(8)}`;
    const address = canonicalize(raw);
    if (typeof address === 'string') continue;
    accepted += 1;
    assert.deepEqual(canonicalize(address.url), address, `seed ${seed}: ${JSON.stringify(raw)}`);
    assert.equal(address.url, address.origin + address.path);
    assert.ok(!address.url.includes('#') && !address.origin.includes('@') && address.path.startsWith('/'), address.url);
    assert.equal(new URL(address.url).hostname, address.host, 'what is dialled is what was judged');
  }
  assert.ok(accepted > 20_000, `only ${accepted} were accepted`);
});

test('a host without end is refused before it is parsed, however it is written; a long user name or path is not', () => {
  const foreign = 'ü'.repeat(4_000);
  for (const raw of [
    `http://${foreign}/`,
    `//${foreign}.example/`,
    `https:${foreign}`,
    ` ht\ntp:/\t/${foreign}`,
    `http:\\\\${foreign}?q`,
    `http://${'%C3%BC'.repeat(200)}/`,
    `http://xn--${'a'.repeat(400)}.example/`,
    `http://${'a.'.repeat(600)}example/`,
  ]) {
    assert.equal(hasEndlessAuthority(raw), true, raw.slice(0, 40));
    assert.equal(canonicalize(raw, 'http://a.example/'), 'not-a-url', raw.slice(0, 40));
  }
  for (const raw of [`http://${'u'.repeat(400)}@a.example/`, `/${foreign}`, foreign, `http://a.example/${foreign}`])
    assert.equal(hasEndlessAuthority(raw), false, raw.slice(0, 40));
});

test('a Location in raw UTF-8 is read as such, and one in another charset as it is', () => {
  const asBytes = (text: string): string => Buffer.from(text).toString('latin1');
  assert.equal(readLocation(asBytes('/zürich?q=日本')), '/zürich?q=日本');
  assert.equal(readLocation('/z\xfcrich'), '/z\xfcrich');
  assert.equal(readLocation('/plain%20path'), '/plain%20path');
  const address = canonicalize(readLocation(asBytes('/zürich')), 'http://a.example/');
  assert.equal(typeof address === 'string' ? address : address.url, 'http://a.example/z%C3%BCrich');
});
