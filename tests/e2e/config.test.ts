/** `--config` and `gossamer config` with the real binary: who wins, what is printed, and what is refused. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Settings } from '../../src/model/settings.ts';
import { assertCode, assertNoFault, onStage, plainPlan, type Stage } from '../support/stage.ts';

const storedIn = (dir: string): Settings =>
  (JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as { settings: Settings }).settings;

/** A file in a folder of its own, so that its paths differ from those of the command line. */
const writeConfig = (stage: Stage, more: readonly string[]): string => {
  mkdirSync(join(stage.home, 'plans'), { recursive: true });
  const path = join(stage.home, 'plans', 'crawl.yaml');
  writeFileSync(
    path,
    [
      'email: file@example.org',
      'timeout: 5m',
      'disk-reserve: 10MiB',
      `connect-to: ${JSON.stringify(stage.served.connectTo)}`,
      ...more,
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );
  return path;
};

test('a crawl runs from a file alone; a flag wins over the file, and the file over what a resumed crawl has stored', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const path = writeConfig(stage, [
      'dir: ../made',
      `seeds: ${JSON.stringify(stage.world.seeds())}`,
      'delay: 50ms',
      'max-pages: 5',
      'verify-tls: true',
      'park-after: 4',
      'sites: { Never.Example: { delay: 1m } }',
    ]);
    assertCode(await stage.gossamer('crawl', '--config', path, '--park-after', '3'), 0);
    const made = join(stage.home, 'made');
    const first = storedIn(made);
    assert.deepEqual(
      [first.email, first.delayMs, first.maxPages, first.verifyTls, first.parkAfter],
      ['file@example.org', 50, 5, true, 3],
    );
    assert.deepEqual(first.sites, [{ name: 'never.example', delayMs: 60_000 }]);
    const seedLines = readFileSync(join(made, 'seeds.txt'), 'utf8');

    // The same file again: what it says counts once more, but the limit is lifted and the switch is off by flags.
    assertCode(await stage.gossamer('resume', '--config', path, '--max-pages', 'none', '--no-verify-tls'), 0);
    const second = storedIn(made);
    assert.deepEqual([second.maxPages, second.verifyTls, second.parkAfter, second.delayMs], [null, false, 4, 50]);
    assert.equal(readFileSync(join(made, 'seeds.txt'), 'utf8'), seedLines);
    assertNoFault(stage.report());
  }));

test('seeds on the command line are instead of those in the file, and an exclude file in it is kept', () =>
  onStage(plainPlan(4, 20), async (stage) => {
    const path = writeConfig(stage, ['seeds: nothing.txt', 'exclude-file: exclude.txt', 'delay: 50ms', 'max-pages: 1']);
    writeFileSync(join(stage.home, 'plans', 'exclude.txt'), 'never.example\n');
    assertCode(await stage.gossamer('crawl', stage.seedFile, '--config', path), 0);
    const made = join(stage.home, 'crawl');
    assert.equal(readFileSync(join(made, 'exclude.txt'), 'utf8'), 'never.example\n');
    assert.equal(storedIn(made).maxPages, 1);
  }));

interface Printed {
  readonly [name: string]: { readonly value: unknown; readonly from: string };
}

test('config names who gave each value, and what it prints is taken back as the same settings', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 7, 'body-max': '1500B' }), 0);
    const path = writeConfig(stage, [
      'delay: 90s',
      'max-pages: none',
      'sitemaps: true',
      'sites: { a.example: { delay: 0, own: true, headers: { X-A: b } }, b.example: { max-pages: none } }',
      'user-agent: "a"',
      'dir: here',
      'seeds: seeds.txt',
    ]);
    const words = ['config', stage.dir, '--config', path, '--delay', '1500ms', '--no-sitemaps'];
    const json = await stage.gossamer(...words, '--json');
    assertCode(json, 0);
    const printed = JSON.parse(json.stdout) as Printed;
    const shown = (name: string): unknown[] => [printed[name]?.value, printed[name]?.from];
    assert.deepEqual(shown('delay'), ['1500ms', 'flag']);
    assert.deepEqual(shown('sitemaps'), [false, 'flag']);
    assert.deepEqual(shown('max-pages'), [null, 'file']);
    assert.deepEqual(shown('email'), ['file@example.org', 'file']);
    assert.deepEqual(shown('connect-to'), [stage.served.connectTo, 'file']);
    assert.deepEqual(shown('body-max'), ['1500B', 'crawl']);
    assert.deepEqual(shown('seeds'), [join(stage.home, 'plans', 'seeds.txt'), 'file']);
    assert.deepEqual(shown('dir'), [join(stage.home, 'plans', 'here'), 'file']);

    const yaml = await stage.gossamer(...words);
    assertCode(yaml, 0);
    assert.match(yaml.stdout, /^# least time between two visits to a site\ndelay: 1500ms # flag$/m);
    assert.match(yaml.stdout, /^max-pages: none # file$/m);
    assert.match(yaml.stdout, /^# What the crawl has is as of its change 1\.$/m);
    // Elsewhere, so that a path that were still relative would show.
    const back = join(stage.home, 'back.yaml');
    writeFileSync(back, yaml.stdout);
    const again = JSON.parse((await stage.gossamer('config', '--config', back, '--json')).stdout) as Printed;
    const values = (of: Printed): Record<string, unknown> =>
      Object.fromEntries(Object.entries(of).map(([name, { value }]) => [name, value]));
    assert.deepEqual(values(again), values(printed));
    assert.ok(Object.values(again).every(({ from }) => from === 'file'));
  }));

test('config without anything prints the defaults, and says that the address is missing', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const ran = await stage.gossamer('config');
    assertCode(ran, 0);
    assert.match(ran.stdout, /^# email: you@example\.org # missing: a crawl needs it$/m);
    assert.match(ran.stdout, /^delay: 5s # default$/m);
    const path = join(stage.home, 'defaults.yaml');
    writeFileSync(path, ran.stdout);
    assertCode(await stage.gossamer('config', '--config', path), 0);
    assert.deepEqual(readdirSync(stage.home).toSorted(), ['defaults.yaml', 'seeds.txt']);
  }));

test('a mistake in a file is one sentence with its place and exit code 2, for every command, and nothing is made', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    writeFileSync(join(stage.home, 'wrong.yaml'), 'email: me@example.org\ndelai: 5s\n');
    const before = readdirSync(stage.home);
    for (const words of [['crawl', stage.seedFile], ['resume', 'nothing'], ['config']]) {
      const ran = await stage.gossamer(...words, '--config', 'wrong.yaml');
      assertCode(ran, 2);
      assert.equal(
        ran.stderr,
        'gossamer: wrong.yaml line 2 column 1: there is no setting "delai" (did you mean delay?)\n',
      );
      assert.equal(ran.stdout, '');
    }
    assert.deepEqual(readdirSync(stage.home), before);
    const ran = await stage.gossamer('config', '--delay', '5s', '--max-pages', '0');
    assertCode(ran, 2);
    assert.match(ran.stderr, /^gossamer: --max-pages 0 is not understood: the least is 1\n$/);
  }));

test('config --site prints what holds for a host, and which rule or setting gives it', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const path = writeConfig(stage, [
      'delay: 90s',
      'header: ["X-Purpose: a study"]',
      'sites:',
      '  example.org: { delay: 1s, max-pages: 1000, scope: host }',
      '  intern.example.org: { own: true, delay: 0, robots: ignore }',
    ]);
    const ran = await stage.gossamer('config', '--config', path, '--site', 'Wiki.Intern.example.org');
    assertCode(ran, 0);
    assert.deepEqual(ran.stdout.trimEnd().split('\n'), [
      '# wiki.intern.example.org, of the site example.org: what holds, and where it comes from.',
      'delay: 0s # rule for intern.example.org, file',
      'max-pages: 1000 # rule for example.org, file',
      'own: true # rule for intern.example.org, file',
      'robots: ignore # rule for intern.example.org, file',
      'scope: host # rule for example.org, file',
      'headers: ["X-Purpose: a study"] # header, file',
    ]);
    const other = await stage.gossamer('config', '--config', path, '--site', 'example.net', '--json');
    assert.deepEqual(JSON.parse(other.stdout), {
      host: 'example.net',
      site: 'example.net',
      values: {
        delay: { value: '90s', rule: null, setting: 'delay', from: 'file' },
        'max-pages': { value: null, rule: null, setting: 'max-pages-per-site', from: 'default' },
        own: { value: false, rule: null, setting: null, from: 'default' },
        robots: { value: 'obey', rule: null, setting: null, from: 'default' },
        scope: { value: 'any', rule: null, setting: 'scope', from: 'default' },
        headers: { value: ['X-Purpose: a study'], rule: null, setting: 'header', from: 'file' },
      },
    });
    // The same of a crawl that has stored them.
    assertCode(await stage.crawl({ config: path, 'max-pages': 1, delay: '50ms' }), 0);
    const stored = await stage.gossamer('config', stage.dir, '--site', 'example.org');
    assert.match(stored.stdout, /^delay: 1s # rule for example\.org, crawl$/m);
    const bad = await stage.gossamer('config', '--site', 'no dots');
    assertCode(bad, 2);
    assert.match(bad.stderr, /--site "no dots" has white space inside/);
  }));
