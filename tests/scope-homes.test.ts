/** What a person says of the links that are wanted: homes of seeds, and patterns. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renamed } from '../src/model/read-settings.ts';
import type { ScopeKind } from '../src/model/scope-kind.ts';
import { canonicalize, type Address } from '../src/url/canonical.ts';
import { createHomes, homeKeys, openHomes, type HomeKind } from '../src/url/homes.ts';
import { createPatterns, readPattern } from '../src/url/link-patterns.ts';
import { createScope, NO_RULES, type ScopeRules } from '../src/url/scope.ts';
import { readSeed } from '../src/url/seed.ts';
import { siteOf } from '../src/url/site.ts';

const judge = (url: string, rules: Partial<ScopeRules>, depth: number): string | null => {
  const address = canonicalize(url) as Address;
  return createScope({ ...NO_RULES, ...rules }).judge(address, siteOf(address.host), depth);
};

/** Homes of these kinds around these addresses. */
const homesAt = (scope: ScopeKind, ...at: readonly (readonly [HomeKind, string])[]) => {
  const homes = createHomes(scope);
  for (const [kind, url] of at) for (const key of homeKeys(kind, canonicalize(url) as Address)) homes.add(key);
  return { homes: () => homes };
};

test('a site, a host, a folder or a page is the home of a seed, whatever its scheme', () => {
  const from = 'https://docs.example.org/guide/start.html?a=/b';
  const wanted: Record<HomeKind, readonly string[]> = {
    site: ['https://example.org/', 'http://deep.www.example.org/x', 'https://docs.example.org:8443/'],
    host: ['https://docs.example.org/', 'http://docs.example.org/other?x'],
    path: [
      'http://docs.example.org/guide/',
      'https://docs.example.org/guide/a/b?c',
      'https://docs.example.org/guide/x',
    ],
    page: ['http://docs.example.org/guide/start.html?a=/b'],
  };
  const refused: Record<HomeKind, readonly string[]> = {
    site: ['https://example.com/', 'https://notexample.org/'],
    host: ['https://example.org/', 'https://www.docs.example.org/', 'https://docs.example.org:8443/'],
    path: [
      'https://docs.example.org/',
      'https://docs.example.org/guide',
      'https://docs.example.org/guidebook/',
      'https://docs.example.org/x/guide/',
      'https://docs.example.org/?/guide/',
    ],
    page: ['https://docs.example.org/guide/start.html', 'https://docs.example.org/guide/'],
  };
  for (const kind of ['site', 'host', 'path', 'page'] as const) {
    const rules = homesAt(kind, [kind, from]);
    for (const url of wanted[kind]) assert.equal(judge(url, rules, 1), null, `${kind} ${url}`);
    for (const url of refused[kind]) assert.equal(judge(url, rules, 1), 'out-of-scope', `${kind} ${url}`);
    assert.equal(judge('https://elsewhere.net/', rules, 0), null, 'a seed, or where it leads, is always wanted');
  }
});

test('a seed with a scope of its own narrows its site; other sites are as the crawl has it', () => {
  const rules = homesAt('any', ['path', 'https://example.org/docs/'], ['page', 'https://example.org/news']);
  assert.equal(judge('https://example.org/docs/a', rules, 1), null);
  assert.equal(judge('https://example.org/news', rules, 1), null);
  assert.equal(judge('https://example.org/news/', rules, 1), 'out-of-scope');
  assert.equal(judge('https://www.example.org/', rules, 1), 'out-of-scope');
  assert.equal(judge('https://example.net/', rules, 1), null);
});

test('a folder at any depth of a path is looked at, and a path without folders too', () => {
  const deep = '/a/b/c/d/e/f/g/h/';
  assert.equal(
    judge(`https://example.org${deep}x/y?z=/`, homesAt('path', ['path', `https://example.org${deep}`]), 1),
    null,
  );
  assert.equal(judge('https://example.org/x', homesAt('path', ['path', 'https://example.org/']), 1), null);
  assert.equal(judge('https://example.org/x', homesAt('path', ['path', 'https://example.org/y']), 1), null);
  assert.equal(judge('https://example.org/x', homesAt('path', ['path', 'https://example.org/y/']), 1), 'out-of-scope');
});

test('a sitemap of a site with a home may lie beside it', () => {
  const { homes } = homesAt('path', ['path', 'https://example.org/docs/']);
  const scope = createScope({ ...NO_RULES, homes, include: createPatterns(['*/docs/*']) });
  const address = canonicalize('https://example.org/sitemap.xml.gz') as Address;
  assert.equal(scope.judge(address, 'example.org', 1, true), null);
  assert.equal(scope.judge(address, 'example.org', 1), 'out-of-scope');
  const other = canonicalize('https://example.net/sitemap.xml') as Address;
  assert.equal(scope.judge(other, 'example.net', 1, true), 'out-of-scope');
});

test('homes tell what kind is exactly at an address, the narrowest first, also in another thread', () => {
  const { homes } = homesAt('host', ['host', 'https://example.org/'], ['path', 'https://example.org/docs/']);
  const opened = openHomes(structuredClone(homes().shared));
  for (const some of [homes(), opened]) {
    assert.equal(some.kindAt(canonicalize('https://example.org/docs/x') as Address), 'path');
    assert.equal(some.kindAt(canonicalize('https://example.org/') as Address), 'host');
    assert.equal(some.kindAt(canonicalize('https://www.example.org/') as Address), null);
  }
});

test('patterns are sites, globs or regular expressions', () => {
  const matches = (pattern: string, url: string): boolean => {
    const read = readPattern(pattern);
    assert.ok('matches' in read, `${pattern}: ${'why' in read ? read.why : ''}`);
    return read.matches(canonicalize(url) as Address);
  };
  const cases: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
    [
      'example.org',
      ['https://example.org/', 'http://a.b.example.org/x'],
      ['https://notexample.org/', 'https://example.org.net/'],
    ],
    ['*.Example.org', ['https://example.org/', 'https://a.example.org/'], ['https://example.net/']],
    ['*.tar.gz', ['https://example.org/a.tar.gz'], ['https://example.org/a.tar.gz?x']],
    ['*/docs/*', ['https://example.org/docs/', 'https://example.org/x/docs/y?z'], ['https://example.org/docs']],
    ['/docs/*', ['https://example.org/docs/a', 'http://b.net/docs/'], ['https://example.org/x/docs/a']],
    ['/docs', ['https://example.org/docs'], ['https://example.org/docs/', 'https://example.org/docs?a']],
    [
      'example.org/docs/*',
      ['https://example.org/docs/a', 'http://example.org/docs/'],
      ['https://a.example.org/docs/a'],
    ],
    ['https://Example.org/*', ['https://example.org/'], ['http://example.org/']],
    ['*?replytocom=*', ['https://example.org/a?replytocom=7'], ['https://example.org/a?x&replytocom=7']],
    ['/[?&]sid=\\d+/', ['https://example.org/a?sid=1', 'https://example.org/?b&sid=22'], ['https://example.org/sid=1']],
    ['/PRINT/i', ['https://example.org/print/'], ['https://example.org/prnt']],
    ['/q+/g', ['https://example.org/qq', 'https://example.org/qq'], ['https://example.org/b']],
    ['*a*b*', ['https://x.net/aXb'], ['https://x.net/b']],
  ];
  for (const [pattern, yes, no] of cases) {
    for (const url of yes) assert.ok(matches(pattern, url), `${pattern} matches ${url}`);
    for (const url of no) assert.ok(!matches(pattern, url), `${pattern} does not match ${url}`);
  }
});

test('a pattern that means nothing is told why', () => {
  const why = (text: string): string => {
    const read = readPattern(text);
    return 'why' in read ? read.why : 'fine';
  };
  assert.equal(why(''), 'is empty');
  assert.match(why('private'), /neither a site nor a glob: write a domain, or \* for any text, as in \*private\*/);
  assert.match(why('/(/'), /is no regular expression: .*nterminated group/);
  assert.match(why('/a/zz'), /is no regular expression: /);
  assert.match(why('a b'), /white space/);
});

test('a glob is linear on any address', () => {
  const glob = readPattern(`${'*a'.repeat(500)}*!`);
  assert.ok('matches' in glob);
  // A matcher that went back would take 10^300 steps here.
  assert.equal(glob.matches(canonicalize(`https://example.org/${'a'.repeat(1_900)}`) as Address), false);
});

test('what is excluded is refused, seeds too; where something is included, all else is refused but seeds', () => {
  const rules = {
    exclude: createPatterns(['*/private/*', 'bad.org']),
    include: createPatterns(['*.html', 'good.org']),
  };
  assert.equal(judge('https://example.org/private/x.html', rules, 0), 'excluded');
  assert.equal(judge('https://a.bad.org/', rules, 1), 'excluded');
  assert.equal(judge('https://example.org/x.html', rules, 1), null);
  assert.equal(judge('https://good.org/x', rules, 1), null);
  assert.equal(judge('https://example.org/x', rules, 1), 'not-included');
  assert.equal(judge('https://example.org/x', rules, 0), null);
});

test('a seed may name its scope', () => {
  const homeOf = (line: string) => {
    const seed = readSeed(line);
    return seed.kind === 'link' ? seed.home : seed.kind === 'bad' ? seed.why : seed.kind;
  };
  assert.equal(homeOf('example.org'), null);
  assert.equal(homeOf('example.org/docs/ path  # the manual'), 'path');
  assert.equal(homeOf('https://example.org\thost'), 'host');
  assert.match(homeOf('example.org any')!, /any is for the whole crawl, by --scope any/);
  assert.match(homeOf('example.org sites')!, /"sites" for a scope: it is page, path, host or site/);
});

test('a scope under its old name is understood, and the name of now wins', () => {
  assert.deepEqual(renamed({ seededOnly: true, maxDepth: 1 }), { scope: 'site', maxDepth: 1 });
  assert.deepEqual(renamed({ seededOnly: false }), { scope: 'any' });
  assert.deepEqual(renamed({ seededOnly: true, scope: 'host' }), { scope: 'host' });
  assert.deepEqual(renamed({ maxDepth: 1 }), { maxDepth: 1 });
});
