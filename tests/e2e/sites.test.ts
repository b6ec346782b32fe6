/** `sites` and `explain` of a real crawl: what they say is what the small web did and what the other commands say. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { explain, type Explanation } from '../../src/results/explain.ts';
import { readIdentity } from '../../src/folder/folder.ts';
import { lookAt } from '../support/sqlite-place.ts';
import { policyOf } from '../../src/world/policy.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import type { Ran } from '../support/binary.ts';
import { assertCode, onStage, openStage, plainPlan, type ListedPage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

interface SiteRow {
  readonly site: string;
  readonly origin: string | null;
  readonly state: string;
  readonly waiting: number;
  readonly pages: number;
  readonly failures: number;
  readonly delay_ms: number;
  readonly next_visit: string | null;
  readonly robots_origin: string | null;
  readonly robots_state: string | null;
  readonly robots_stale: boolean | null;
  readonly robots_time: string | null;
  readonly robots_trouble: string | null;
}

interface Explained {
  readonly url: string;
  readonly reason: string;
  readonly state: string;
  readonly answer: string;
  readonly notes: readonly string[];
  readonly advice: readonly string[];
  readonly robots: {
    readonly origin: string;
    readonly allowed: boolean;
    readonly line: number | null;
    readonly rule: string;
  } | null;
}

let stage: Stage;
let pages: ListedPage[];
let sites: SiteRow[];
/** Those of the sites themselves: origins in trouble have lines of their own. */
let own: SiteRow[];

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const listed = async (on: Stage, ...flags: readonly string[]): Promise<SiteRow[]> => {
  const ran = await on.gossamer('sites', on.dir, '--format', 'jsonl', ...flags);
  assertCode(ran, 0);
  return linesOf(ran.stdout).map((line) => JSON.parse(line) as SiteRow);
};

const explained = async (on: Stage, url: string, code = 0): Promise<Explained> => {
  const ran = await on.gossamer('explain', on.dir, url, '--json');
  assertCode(ran, code);
  assert.equal(ran.stderr, '');
  return JSON.parse(ran.stdout) as Explained;
};

/** Explains URLs without a process for each: many questions to one crawl, which may be running. */
const explainedHere = ({ dir }: Stage, urls: readonly string[]): Promise<Explanation[]> =>
  lookAt(dir, (crawl) => {
    const { settings } = readIdentity(dir);
    return Promise.all(urls.map((url) => explain({ dir, url, settings, crawl, now: Date.now(), running: true })));
  });

before(async () => {
  stage = await openStage(tinyPlan);
  assertCode(await stage.crawl(), 0);
  pages = await stage.pages();
  sites = await listed(stage);
  own = sites.filter(({ origin }) => origin === null);
});
after(() => stage.close());

test('sites lists every site once, and its numbers add up to those of status', async () => {
  const status = await stage.status();
  assert.equal(new Set(sites.map(({ site }) => site)).size, status.sites.known);
  assert.equal(own.length, status.sites.known);
  assert.equal(new Set(sites.map(({ site, origin }) => `${site} ${origin}`)).size, sites.length);
  const sum = (pick: (row: SiteRow) => number): number => sites.reduce((total, row) => total + pick(row), 0);
  assert.deepEqual(
    [sum((row) => row.pages), sum((row) => row.waiting)],
    [status.pages, status.waiting + status.parked + status.held],
  );
  assert.equal(sites.filter(({ state, origin }) => state === 'parked' && origin !== null).length, status.sites.parked);
  assert.equal(own.filter(({ state }) => state === 'parked').length, 0, 'an origin is parked, not its site');
  assert.ok(status.sites.parked > 0);
});

test('sites tells of each site what its robots.txt says', () => {
  const expected = ({ site, robots_origin: origin }: SiteRow): string => {
    const host = new URL(origin!).hostname;
    const policy = policyOf(tinyPlan, stage.world.siteOf(host)!, host);
    const { deadHost } = stage.world.siteOf(host)!;
    const isClosed = origin!.startsWith('https:') && stage.world.refusesTls(host);
    if (policy.status === 0 || policy.status >= 500 || host === deadHost || isClosed) return 'unreadable';
    if (policy.rules.length === 0) return 'allows-all';
    assert.equal(stage.world.siteOf(host)?.name, site);
    return policy.text.includes('Allow: ') || !policy.text.includes('Disallow: /\n') ? 'has-rules' : 'forbids-all';
  };
  for (const row of sites.filter(({ robots_origin: origin }) => origin !== null)) {
    assert.equal(row.robots_state, expected(row), row.site);
    assert.notEqual(row.robots_time, null);
    const isUnreadable = row.robots_state === 'unreadable';
    assert.deepEqual([row.robots_stale, row.robots_trouble !== null], [isUnreadable, isUnreadable]);
  }
  assert.ok(new Set(sites.map((row) => row.robots_state)).size >= 3);
});

test('a table has a head, a line per site in the order asked for, and says how many more there are', async () => {
  const ran = await stage.gossamer('sites', stage.dir, '--sort', 'pages', '--limit', '3');
  assertCode(ran, 0);
  const [head, ...rows] = linesOf(ran.stdout);
  assert.match(head ?? '', /^site +state +waiting +pages +failures +delay +next visit +robots\.txt$/);
  assert.deepEqual(
    rows.slice(0, 3).map((row) => row.split(' ')[0]),
    sites
      .toSorted((a, b) => b.pages - a.pages)
      .slice(0, 3)
      .map(({ site }) => site),
  );
  assert.equal(rows[3], `3 of ${own.length} sites, most pages first; ${own.length - 3} more with a --limit above 3`);
  assert.equal(rows.length, 4);
});

test('CSV has the same sites, and a limit on what a program reads is told beside it', async () => {
  const all = await stage.gossamer('sites', stage.dir, '--format', 'csv');
  assert.deepEqual(
    linesOf(all.stdout)
      .slice(1)
      .map((line) => line.split(',')[0]),
    sites.map(({ site }) => site),
  );
  assert.equal(linesOf(all.stdout)[0]?.trimEnd(), Object.keys(sites[0]!).join(','), 'the names of JSON lines');
  const idle = sites.findIndex(({ state }) => state === 'idle');
  assert.equal(linesOf(all.stdout)[idle + 1]?.split(',')[8], '', 'a site without links has no next visit');
  assert.equal(all.stderr, '');
  const some = await stage.gossamer('sites', stage.dir, '--format', 'jsonl', '--limit', '2');
  assert.equal(linesOf(some.stdout).length, 2);
  assert.match(some.stderr, new RegExp(`^2 of ${own.length} sites; ${own.length - 2} more`));
});

test('a search finds the sites with that text in their name, in any case, and says when there is none', async () => {
  const name = sites[0]!.site;
  assert.deepEqual(
    (await listed(stage, '--search', name.slice(0, 6).toUpperCase())).map(({ site }) => site),
    sites.filter(({ site }) => site.includes(name.slice(0, 6))).map(({ site }) => site),
  );
  const none = await stage.gossamer('sites', stage.dir, '--search', 'no-such-name');
  assertCode(none, 0);
  assert.equal(none.stdout, 'no site has "no-such-name" in its name\n');
});

test('explain gives every settled page its outcome, and every denied one the line of robots.txt that denies it', async () => {
  const byOutcome = Object.groupBy(pages, ({ outcome }) => outcome);
  assert.deepEqual(
    (
      await explainedHere(
        stage,
        pages.map(({ url }) => url),
      )
    ).map(({ url, reason, state }) => ({ url, reason, state })),
    pages.map(({ url, outcome }) => ({ url, reason: outcome, state: 'settled' })),
  );
  const denied = byOutcome['robots-denied'] ?? [];
  assert.ok(denied.length > 1);
  for (const row of denied) {
    const { host, pathname } = new URL(row.url);
    const [, number, pattern] = /^line (\d+): Disallow: (.*)$/.exec(row.robots) ?? assert.fail(row.robots);
    const line = policyOf(tinyPlan, stage.world.siteOf(host)!, host).text.split(/\r?\n/)[Number(number) - 1] ?? '';
    assert.match(line.toLowerCase(), /^disallow *:/);
    assert.ok(line.includes(pattern!), `${line} has ${pattern} of ${pathname}`);
  }
  const { answer, robots } = await explained(stage, denied[0]!.url);
  assert.deepEqual([robots?.allowed, `line ${robots?.line}`], [false, denied[0]!.robots.split(':')[0]]);
  assert.ok(answer.endsWith(`forbids it (${denied[0]!.robots}).`), answer);
});

test('explain names the target of a redirect, and the command that brings a parked site back', async () => {
  const moved = pages.find(({ outcome }) => outcome === 'redirected')!;
  const { answer, advice } = await explained(stage, moved.url);
  assert.ok(answer.includes(moved.redirect));
  assert.deepEqual(advice, [`gossamer explain ${stage.dir} ${moved.redirect}`]);
  // One whose front page is linked: of the dead hosts of healthy sites other pages are.
  const parked = sites.find(({ state, robots_state: robots, robots_origin: origin }) => {
    const host = new URL(origin ?? 'http://none.example').hostname;
    return state === 'parked' && robots === 'unreadable' && stage.world.siteOf(host)?.deadHost === '';
  })!;
  const about = await explained(stage, `${parked.robots_origin!}/`);
  assert.deepEqual([about.reason, about.advice], ['parked', [`gossamer resume ${stage.dir} --retry-parked`]]);
  assert.match(about.answer, /failed 3 times in a row, and --park-after is 3/);
  assert.ok(
    about.notes.some((note) => note.startsWith(`${parked.robots_origin!} was last asked on `)),
    about.notes.join('; '),
  );
});

test('explain of a link that is not known has exit code 1, and a sentence for people', async () => {
  const origin = new URL(pages[0]!.url).origin;
  assert.equal((await explained(stage, `${origin}/nobody-links-here`, 1)).reason, 'unknown');
  assert.equal((await explained(stage, 'gopher://a.example/', 1)).reason, 'not-http');
  const ran = await stage.gossamer('explain', stage.dir, `${origin}/nobody-links-here`);
  assertCode(ran, 1);
  assert.match(ran.stdout, /\n {2}It is not known to this crawl: .*\n\n {2}reason +unknown\n/s);
});

describe('wrong use', { concurrency: 2 }, () => {
  const uses: readonly [what: string, words: (dir: string) => string[], says: RegExp][] = [
    [
      'an unknown order',
      (dir) => ['sites', dir, '--sort', 'size'],
      /--sort "size" is not known: choose one of waiting, pages, failures, next, name, delay/,
    ],
    [
      'a limit that is none',
      (dir) => ['sites', dir, '--limit', 'all'],
      /--limit "all" is not understood: write a whole number/,
    ],
    [
      'more than can be sorted',
      (dir) => ['sites', dir, '--limit', '10001'],
      /--limit 10001 is too much for a sorted list, the most is 10000: --format jsonl or csv/,
    ],
    ['an unknown format', (dir) => ['sites', dir, '--format', 'xml'], /--format "xml" is not known/],
    ['the sites of nothing', () => ['sites', 'nothing'], /there is no crawl in "nothing"/],
    [
      'an explanation without a URL',
      (dir) => ['explain', dir],
      /the URL is missing: gossamer explain <dir>\.\.\. <url>/,
    ],
    ['an explanation in nothing', () => ['explain', 'nothing', 'https://a.example/'], /there is no crawl in "nothing"/],
  ];
  for (const [what, words, says] of uses) {
    test(`${what} gets a sentence and exit code 2`, async () => {
      const ran = await stage.gossamer(...words(stage.dir));
      assertCode(ran, 2);
      assert.match(ran.stderr, says);
      assert.match(ran.stderr, /^gossamer: [^\n]+\n$/);
      assert.equal(ran.stdout, '');
    });
  }
});

test('both answer while the crawl runs and after it was stopped', () =>
  onStage(plainPlan(3, 30), async (running) => {
    const crawl = running.startCrawl({ delay: '20s' }); // long enough for all that follows;
    let rows: SiteRow[] = [];
    await until('a site has links waiting', async () => {
      if (crawl.isOver()) throw new Error(crawl.said());
      const ran: Ran = await running.gossamer('sites', running.dir, '--format', 'jsonl', '--sort', 'waiting');
      rows = linesOf(ran.stdout).map((line) => JSON.parse(line) as SiteRow);
      return (rows[0]?.waiting ?? 0) > 3;
    });
    const { site } = rows[0]!;
    const candidates = [...running.world.reachable().pages].filter(
      (url) => running.world.siteOf(new URL(url).hostname)?.name === site,
    );
    const inQueue = (await explainedHere(running, candidates)).filter(({ reason }) => reason === 'waiting');
    assert.ok(inQueue.length > 0);
    assert.ok(inQueue.every(({ visitAt, advice }) => visitAt !== null && advice.length === 0));
    const last = inQueue.toSorted((a, b) => b.visitAt! - a.visitAt!)[0]!.url; // its turn is far
    assert.deepEqual((await explained(running, last)).advice, []);
    crawl.send('SIGINT');
    assertCode(await crawl.ended, 3);
    const { state, advice } = await explained(running, last);
    assert.deepEqual([state, advice], ['waiting', [`gossamer resume ${running.dir}`]]);
    const table = await running.gossamer('sites', running.dir);
    assert.match(
      table.stdout,
      new RegExp(
        `^${site.replaceAll('.', '\\.')} +waiting +\\d+ +\\d+ +0 +\\S+s +(?:due now|in \\S+s) +(?:allows all, \\S+s old|not read yet)$`,
        'm',
      ),
      'its next visit may be the first to a host of it',
    );
  }));
