/** Rules per site: how they are read, what is refused with its place, and which one holds for a host. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfigFile } from '../src/cli/config-file.ts';
import { ALIASES_MAX } from '../src/cli/config-text.ts';
import { writeSiteRules } from '../src/cli/site-rules-file.ts';
import { completeSettings, UsageError } from '../src/model/read-settings.ts';
import { SITE_RULES_MAX, type SiteRule } from '../src/model/site-rules.ts';
import { canonicalRules, compileSiteRules, rulesFor } from '../src/url/site-rules.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-site-rules-'));
after(() => rmSync(home, { recursive: true }));

const rulesIn = async (text: string, name = 'crawl.yaml'): Promise<readonly SiteRule[] | undefined> => {
  const path = join(home, name);
  writeFileSync(path, text);
  return (await readConfigFile(path)).settings.sites;
};

const refused = async (text: string, says: RegExp): Promise<void> => {
  await assert.rejects(rulesIn(text), (error: Error) => {
    assert.ok(error instanceof UsageError, String(error));
    assert.match(error.message, says);
    return true;
  });
};

const WRITTEN = `
delay: 5s
sites:
  example.org:
    delay: 1s
    max-pages: 1000
    scope: path
    headers: { X-Purpose: research, X-Trace: "1" }
  Intern.Example.org:
    own: true
    delay: 0
    robots: ignore
  bücher.example:
    max-pages: none
`;
const READ: readonly SiteRule[] = [
  {
    name: 'example.org',
    delayMs: 1_000,
    maxPages: 1_000,
    scope: 'path',
    headers: { 'X-Purpose': 'research', 'X-Trace': '1' },
  },
  { name: 'intern.example.org', own: true, delayMs: 0, robots: 'ignore' },
  { name: 'xn--bcher-kva.example', maxPages: null },
];

test('a file gives rules per site, with hosts in their canonical form', async () => {
  assert.deepEqual(await rulesIn(WRITTEN), READ);
});

test('rules in JSON mean the same, and rules that are written read back as the same rules', async () => {
  assert.deepEqual(await rulesIn(JSON.stringify({ sites: writeSiteRules(READ) }), 'crawl.json'), READ);
  assert.deepEqual(await rulesIn('sites: {}'), []);
  assert.equal(await rulesIn('delay: 5s'), undefined);
});

test('an alias stands for the values of another site', async () => {
  assert.deepEqual(await rulesIn('sites:\n  a.example: &slow\n    delay: 1m\n  b.example: *slow\n'), [
    { name: 'a.example', delayMs: 60_000 },
    { name: 'b.example', delayMs: 60_000 },
  ]);
});

test('a mistake in a rule is told with its place', async () => {
  const at = (line: number, column: number): string => `crawl\\.yaml line ${line} column ${column}: `;
  await refused('sites: 5', new RegExp(`${at(1, 8)}sites has no names and values: write domains or hosts`));
  await refused('sites:\n  a.example: 5s', new RegExp(`${at(2, 14)}a\\.example has no names and values: `));
  await refused(
    'sites:\n  a.example:\n    dealy: 5s',
    new RegExp(`${at(3, 5)}a site has no value "dealy" \\(did you mean delay\\?\\)`),
  );
  await refused('sites:\n  a.example:\n    maxPages: 5', /did you mean max-pages\?/);
  await refused(
    'sites:\n  a.example:\n    delay: soon',
    new RegExp(`${at(3, 12)}delay "soon" is not understood: write a time`),
  );
  await refused('sites:\n  a.example:\n    delay:', /delay has no value/);
  await refused('sites:\n  a.example:\n    max-pages: 0', /line 3 column 16: max-pages 0 is not understood/);
  await refused('sites:\n  a.example:\n    own: "yes"', /own "yes" is not understood: write true or false/);
  await refused('sites:\n  a.example:\n    scope: all', /choose one of page, path, host, site, any/);
  await refused('sites:\n  a.example:\n    delay: [1s]', /delay with more than one value is not understood/);
  await refused('sites:\n  a.example:\n    delay: { x: 1s }', /delay with more than one value is not understood/);
  await refused('sites:\n  "no dots":\n    delay: 1s', new RegExp(`${at(2, 3)}"no dots" has white space inside`));
  await refused('sites:\n  a.example:\n    delay: 1s\n  a.example:\n    own: true', /line 4 column 3: .* given twice/);
  await refused(
    'sites:\n  a.example: {}\n  A.EXAMPLE: {}',
    new RegExp(`${at(3, 3)}A\\.EXAMPLE is given twice: both names`),
  );
  await refused('delay:\n  a.example: 5s', /delay has values inside values/);
});

test('robots.txt is disregarded on sites of your own alone', async () => {
  await refused(
    'sites:\n  a.example:\n    robots: ignore',
    /line 2 column 3: a\.example: robots: ignore is for sites of/,
  );
  assert.equal((await rulesIn('sites:\n  a.example: { robots: obey }'))!.length, 1);
});

test('a budget is that of a site, not of a host below it', async () => {
  await refused(
    'sites:\n  www.example.org: { max-pages: 5 }',
    /www\.example\.org is a part of the site example\.org: say it for example\.org/,
  );
  // Two users of a public suffix are two sites.
  assert.equal((await rulesIn('sites:\n  one.github.io: { max-pages: 5 }'))![0]!.maxPages, 5);
});

test('header fields are well formed, and carry no credentials', async () => {
  const headers = (text: string): string => `sites:\n  a.example:\n    headers: ${text}`;
  for (const name of ['Authorization', 'proxy-authorization', 'Cookie'])
    await refused(
      headers(`{ ${name}: x }`),
      /is a secret, and rules are kept with the crawl: give it by --credentials FILE/,
    );
  await refused(headers('{ "a b": x }'), /"a b" is not the name of a header/);
  await refused(headers('{ X-A: "a\\nb" }'), /X-A has characters that cannot be sent/);
  await refused(headers('{ X-A: "" }'), /X-A has no value/);
  await refused(headers('{ X-A: [1] }'), /X-A has no value/);
  await refused(headers('{ X-A: a, x-a: b }'), /headers has x-a twice/);
  await refused(headers('{ Host: x }'), /Host is set by the crawler/);
  await refused(headers('yes'), /headers has no names and values/);
});

test('rules have a ceiling, and so have aliases of aliases', async () => {
  const many = (n: number): SiteRule[] => Array.from({ length: n }, (_, i) => ({ name: `s${i}.example`, delayMs: 1 }));
  assert.ok(Array.isArray(canonicalRules(many(SITE_RULES_MAX))));
  assert.throws(
    () => completeSettings({ email: 'me@example.org', sites: many(SITE_RULES_MAX + 1) }, 2),
    /^UsageError: sites has 10001 rules, and 10000 are the most/,
  );
  const uses = Array.from({ length: ALIASES_MAX + 1 }, (_, i) => `  s${i}.example: *a`).join('\n');
  await refused(`sites:\n  a.example: &a { delay: 1s }\n${uses}`, /there are more than 100 aliases/);
});

test('the library gets the same checks, and canonical names', () => {
  assert.deepEqual(canonicalRules([{ name: 'BÜCHER.example', own: true, robots: 'ignore' }]), [
    { name: 'xn--bcher-kva.example', own: true, robots: 'ignore' },
  ]);
  const why = (rules: unknown): string => (canonicalRules(rules as readonly SiteRule[]) as { why: string }).why;
  assert.match(why({}), /is not a list of rules/);
  assert.match(why([{ delayMs: 1 }]), /has a rule without a name/);
  assert.match(why([{ name: 'a.example', delay: 1 }]), /"a.example": there is no value "delay"/);
  assert.match(why([{ name: 'a.example', delayMs: -1 }]), /"a.example": delay -1 is not understood/);
  assert.match(why([{ name: 'a.example' }, { name: 'A.example' }]), /has a.example twice/);
  assert.match(why([{ name: 'www.example.org', maxPages: 1 }]), /max-pages is the budget of a site/);
});

test('the most specific rule that names a value gives it', () => {
  const rules = compileSiteRules([
    { name: 'a.b.example.org', delayMs: 3 },
    { name: 'example.org', delayMs: 1, own: true, maxPages: 7 },
    { name: 'b.example.org', own: false },
    { name: '127.0.0.1', delayMs: 9 },
    { name: '[::1]', delayMs: 8 },
  ]);
  assert.deepEqual(rules.of('example.org'), { delayMs: 1, own: true, maxPages: 7 });
  assert.deepEqual(rules.of('b.example.org'), { delayMs: 1, own: false, maxPages: 7 });
  assert.deepEqual(rules.of('x.a.b.example.org'), { delayMs: 3, own: false, maxPages: 7 });
  assert.deepEqual(rules.of('notexample.org'), {});
  assert.equal(rules.of('127.0.0.1').delayMs, 9);
  assert.equal(rules.of('[::1]').delayMs, 8);
  assert.deepEqual(compileSiteRules([]).of('example.org'), {});
  assert.deepEqual(
    rulesFor([{ name: 'example.org' }, { name: 'www.example.org' }], 'www.example.org').map(({ name }) => name),
    ['www.example.org', 'example.org'],
  );
});
