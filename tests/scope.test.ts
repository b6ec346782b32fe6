/** Scope, sets of sites, and the lines of seed and exclude files. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parse as parseHost } from 'tldts';
import { canonicalize } from '../src/url/canonical.ts';
import type { Address } from '../src/url/canonical.ts';
import { FILE_ENDINGS } from '../src/url/ending.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import type { ScopeRules } from '../src/url/scope.ts';
import { readExcluded, readSeed } from '../src/url/seed.ts';
import { createSiteSet, openSiteSet } from '../src/url/site-set.ts';
import { siteOf } from '../src/url/site.ts';

const judge = (url: string, rules: Partial<ScopeRules> = {}, depth = 0): string | null => {
  const address = canonicalize(url) as Address;
  return createScope({ ...NO_RULES, ...rules }).judge(address, siteOf(address.host), depth);
};

test('with no rules every page is wanted', () => {
  for (const path of ['/', '/a', '/a/b/', '/a.html', '/index.php?x=1', '/robots.txt', '/a/b/c/d/e/f']) {
    assert.equal(judge(`https://example.org${path}`), null, path);
  }
});

test('a link further from a seed than the depth allowed is too deep', () => {
  assert.equal(judge('https://example.org/', { depthMax: 2 }, 2), null);
  assert.equal(judge('https://example.org/', { depthMax: 2 }, 3), 'too-deep');
  assert.equal(judge('https://example.org/', { depthMax: 0 }, 0), null);
});

test('an excluded name covers itself and all below it, and nothing beside it', () => {
  const excluded = createSiteSet(['example.org', 'www.example.com', '127.0.0.1']);
  for (const host of [
    'example.org',
    'a.example.org',
    'a.b.example.org',
    'www.example.com',
    'x.www.example.com',
    '127.0.0.1',
  ]) {
    assert.equal(judge(`http://${host}/`, { excluded }), 'excluded', host);
  }
  for (const host of [
    'example.com',
    'a.example.com',
    'notexample.org',
    'example.org.example.net',
    'org',
    '127.0.0.2',
  ]) {
    assert.equal(judge(`http://${host}/`, { excluded }), null, host);
  }
});

test('an excluded seed stays excluded', () => {
  const names = createSiteSet(['example.org']);
  assert.equal(judge('https://example.org/', { excluded: names }), 'excluded');
});

test('files that are plainly not text are not wanted, whatever the case of their ending', () => {
  for (const path of [
    '/a.jpg',
    '/a.b.PNG',
    '/x/y.pdf',
    '/v.mp4?download=1',
    '/f.woff2',
    '/a.tar.gz',
    '/s.css',
    '/s.js',
    '/setup.exe',
    '/a.docx',
    '/.png',
  ]) {
    assert.equal(judge(`https://example.org${path}`), 'not-text', path);
  }
});

test('a program with a query is run by its server and may answer with a page; any other file with a query is that file', () => {
  for (const path of ['/isapi/shop.dll?item=7', '/cgi-bin/find.EXE?q=a', '/shop.dll?a?b'])
    assert.equal(judge(`https://example.org${path}`), null, path);
  for (const path of [
    '/shop.dll',
    '/shop.dll?', // nothing behind it: no query
    '/setup.exe',
    '/photo.jpg?w=200',
    '/site.css?v=3',
    '/app.js?v=3',
    '/a.pdf?download=1',
    '/a.zip?mirror=2',
    '/app.apk?v=2',
    '/firmware.bin?v=2',
  ]) {
    assert.equal(judge(`https://example.org${path}`), 'not-text', path);
  }
});

test('an ending that may serve a page is wanted', () => {
  const paths = [
    '/a.php',
    '/a.asp',
    '/a.aspx',
    '/a.html',
    '/a.txt',
    '/a.xml',
    '/a.md',
    '/a.jsp',
    '/a.cgi',
    '/get?file=a.zip',
    '/a.jpg/',
    '/a.zip/b',
    '/whois/example.com',
    '/whois/www.example.zip',
    '/site/example.ps',
    '/wiki/Node.js',
    '/w/File:Cat.jpg',
    '/w/File%3ACat.jpg',
    '/jpg',
    '/v1.2',
    '/a.',
    '/a.b.c',
    '/release-3.7z.html',
  ];
  for (const path of paths) assert.equal(judge(`https://example.org${path}`), null, path);
});

test('no file ending is also a top-level domain, but for two that are files first', () => {
  const domains = Array.from(FILE_ENDINGS).filter((ending) => parseHost(`x.${ending}`).isIcann === true);
  assert.deepEqual(domains.sort(), ['mov', 'zip']);
});

test('a path that repeats itself four times is a trap', () => {
  for (const path of [
    '/a/a/a/a',
    '/x/a/a/a/a/y',
    '/a/b/a/b/a/b/a/b',
    '/q/a/b/c/a/b/c/a/b/c/a/b/c',
    '/a/b/c/d/e'.repeat(4),
    '//////x',
  ]) {
    assert.equal(judge(`https://example.org${path}`), 'trap', path);
  }
  for (const path of [
    '/a/a/a',
    '/a/a/a/',
    '/a/a/a/b/a',
    '/a/a/b/b/c/c/d/d',
    '/a/b/a/b/a/b',
    '/a/b/a/b/a/b/a/',
    '/2024/01/01/01',
    '/a?x=/b/b/b/b/b',
  ]) {
    assert.equal(judge(`https://example.org${path}`), null, path);
  }
});

test('a path of more than twenty segments is a trap', () => {
  const deep = (segments: number): string => Array.from({ length: segments }, (_, i) => `/s${i}`).join('');
  assert.equal(judge(`https://example.org${deep(20)}`), null);
  assert.equal(judge(`https://example.org${deep(20)}/`), null, 'a trailing slash opens no segment');
  assert.equal(judge(`https://example.org${deep(21)}`), 'trap');
  assert.equal(judge(`https://example.org/a?${deep(40)}`), null, 'the query is not looked at');
});

test('a set of sites can be read in another thread', async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `site-${i}.example`);
  const set = createSiteSet(names);
  assert.equal(set.size, names.length);
  const module = new URL('../src/url/site-set.ts', import.meta.url).href;
  const worker = new Worker(
    `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ openSiteSet }) => {
      const set = openSiteSet(workerData.shared);
      parentPort.postMessage([set.size, set.has('site-0.example'), set.has('site-19999.example'),
        set.has('site-20000.example'), set.hasHostOrParent('a.b.site-7.example'), set.has('a.b.site-7.example')]);
    });`,
    { eval: true, workerData: { module, shared: set.shared } },
  );
  const seen = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  assert.deepEqual(seen, [20_000, true, true, false, true, false]);
});

test('an opened set says the same as the one it came from', () => {
  const opened = openSiteSet(structuredClone(createSiteSet(['example.org']).shared));
  assert.ok(opened.has('example.org') && opened.hasHostOrParent('a.example.org') && !opened.has('example.com'));
  assert.ok(!openSiteSet(createSiteSet([]).shared).hasHostOrParent('example.org'));
});

const seedOf = (line: string): readonly [string, boolean] | string => {
  const seed = readSeed(line);
  return seed.kind === 'link' ? [seed.link.url, seed.link.fallback] : seed.kind;
};

test('a bare domain or host is tried over https first, a URL is taken as it is', () => {
  assert.deepEqual(seedOf('example.org'), ['https://example.org/', true]);
  assert.deepEqual(seedOf('WWW.Example.org'), ['https://www.example.org/', true]);
  assert.deepEqual(seedOf('example.org:8080'), ['https://example.org:8080/', true]);
  assert.deepEqual(seedOf('example.org/a?b=http://x/'), ['https://example.org/a?b=http://x/', true]);
  assert.deepEqual(seedOf('//example.org/a'), ['https://example.org/a', true]);
  assert.deepEqual(seedOf('bücher.de'), ['https://xn--bcher-kva.de/', true]);
  assert.deepEqual(seedOf('bücher。de'), ['https://xn--bcher-kva.de/', true], 'a full stop of another script');
  assert.deepEqual(seedOf('localhost:81'), ['https://localhost:81/', true]);
  assert.deepEqual(seedOf('127.0.0.1'), ['https://127.0.0.1/', true]);
  assert.deepEqual(seedOf('[::1]:8080/x'), ['https://[::1]:8080/x', true]);
  assert.deepEqual(seedOf('http://example.org'), ['http://example.org/', false]);
  assert.deepEqual(seedOf('HTTPS://example.org/a#b'), ['https://example.org/a', false]);
  assert.deepEqual(seedOf('http://intranet/'), ['http://intranet/', false]);
});

test('a seed is a link of its site, found nowhere', () => {
  assert.deepEqual(readSeed('www.example.co.uk/a'), {
    kind: 'link',
    link: {
      url: 'https://www.example.co.uk/a',
      site: 'example.co.uk',
      depth: 0,
      via: '',
      hops: 0,
      fallback: true,
      first: false,
    },
    home: null,
  });
});

test('byte order marks, line ends, white space and comments are no part of a seed', () => {
  assert.deepEqual(seedOf('\uFEFFexample.org\r\n'), ['https://example.org/', true]);
  assert.deepEqual(seedOf('  example.org \t\r'), ['https://example.org/', true]);
  assert.deepEqual(seedOf('example.org   # a good one'), ['https://example.org/', true]);
  for (const line of ['', '   ', '\r\n', '# example.org', '  # example.org', '\uFEFF', '\uFEFF# x', '#'])
    assert.equal(seedOf(line), 'blank', line);
});

test('a bad line says what is wrong with it', () => {
  const why = (line: string): string => {
    const seed = readSeed(line);
    assert.equal(seed.kind, 'bad', line);
    return seed.kind === 'bad' ? seed.why : '';
  };
  assert.equal(why('example'), '"example" is not a domain, host or URL: it has no dot');
  assert.equal(why('12345'), '"12345" is not a domain, host or URL: it has no dot');
  assert.equal(why('example.org and more'), '"example.org and more" has more than two words');
  assert.equal(why('you@example.org'), '"you@example.org" is not a domain, host or URL');
  assert.equal(why('mailto:you@example.org'), '"mailto:you@example.org" is not a domain, host or URL');
  assert.equal(why('1,example.org'), '"1,example.org" has a character that no host name has');
  assert.match(why('ftp://example.org/'), /is not usable: its scheme is neither http nor https$/);
  assert.match(why('http://'), /cannot be read as a URL$/);
  assert.match(why('example.org:99999'), /cannot be read as a URL$/);
  assert.match(
    why(`example.org/${'a'.repeat(3_000)}`),
    /^"example\.org\/a{48}\.\.\." is not usable: it has more than 2,000 characters$/,
  );
  for (const line of ['::1', 'a..b', '/path', '?', '"example.org"', 'javascript:alert(1)', 'http:example']) why(line);
});

test('a line of an exclude file names a host, also as a URL or with a star', () => {
  const nameOf = (line: string): string => {
    const read = readExcluded(line);
    return read.kind === 'name' ? read.name : read.kind;
  };
  assert.equal(nameOf('Example.org'), 'example.org');
  assert.equal(nameOf('www.example.org:8080/x # why'), 'www.example.org');
  assert.equal(nameOf('https://a.example.org/b'), 'a.example.org');
  assert.equal(nameOf('*.example.org'), 'example.org');
  assert.equal(nameOf('.example.org'), 'example.org');
  assert.equal(nameOf('bücher.de'), 'xn--bcher-kva.de');
  assert.equal(nameOf('[::1]'), '[::1]');
  assert.equal(nameOf('# x'), 'blank');
  assert.equal(nameOf('example'), 'bad');
  assert.equal(nameOf('a b'), 'bad');
});

test('a seed with a user name or a password is bad, and neither is repeated', () => {
  for (const line of [
    'https://me:secret@example.org/',
    'http://me@example.org/a@b',
    'https:///me:secret@example.org',
    'HTTPS://\\\\me:secret@example.org',
    'me:secret@example.org/page',
    '//me:secret@example.org',
  ]) {
    const seed = readSeed(line);
    assert.ok(seed.kind === 'bad', line);
    assert.match(seed.why, /\*\*\*@example\.org.*" has a user name or a password in it/);
    assert.doesNotMatch(seed.why, /secret|me@|me:/);
  }
  for (const line of ['https://example.org/@me', 'https://example.org/?to=me:x@example.com', 'example.org/me:1@2'])
    assert.equal(readSeed(line).kind, 'link', line);
});
