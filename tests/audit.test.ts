/** The audit finds what was planted, by its name, and nothing else. */

import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, rmSync, truncateSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AuditReport } from '../src/care/audit.ts';
import { ROBOTS_TTL_MS } from '../src/model/robots.ts';
import { RULES, SITE, ROBOTS, FIRST, page, audited, assertFound } from './support/audit-scene.ts';
import {
  digestOf,
  PLANTED_DELAY_MS as DELAY_MS,
  type Planted,
  type PlantedRequest,
  type PlantedRobots,
} from './support/planted-crawl.ts';

test('a polite crawl has no violation: robots.txt and its page are one visit, and a gap may be exactly the delay', async () => {
  const report = await audited({
    robots: [ROBOTS],
    requests: [...FIRST, page(DELAY_MS, '/a'), page(2 * DELAY_MS, '/b')],
  });
  assertFound(report, []);
  assert.deepEqual([report.requests, report.visits, report.sites], [4, 3, 1]);
});

test('a robots.txt and its page within one millisecond are in the order in which they left', async () => {
  const [robots, first] = FIRST as [PlantedRequest, PlantedRequest];
  const requests = [
    { ...robots, tookMs: 0 },
    { ...first, at: 0 },
  ];
  assertFound(await audited({ robots: [ROBOTS], requests }), []);
  // What a killed visit read is not in the archive: then the ledger alone tells that it was read before.
  assertFound(await audited({ robots: [], requests }), [], { 'not-archived': 1 });
});

test('a gap that is a millisecond too short is found, with both requests and what was required', async () => {
  const report = await audited({
    robots: [ROBOTS],
    requests: [...FIRST, page(DELAY_MS - 1, '/a'), page(2 * DELAY_MS, '/b')],
  });
  assertFound(report, ['gap']);
  const [{ says, request, before, requiredMs }] = report.findings.violations as [
    AuditReport['findings']['violations'][number],
  ];
  assert.equal(
    says,
    `a.example was visited at 2026-01-01 12:00:00.000 (${SITE}/robots.txt) and again 4.999 s later (${SITE}/a); 5.000 s were required: the delay that the crawl was set to`,
  );
  assert.deepEqual([request.url, before?.url, requiredMs], [`${SITE}/a`, `${SITE}/robots.txt`, DELAY_MS]);
});

test('the Crawl-delay of the archived robots.txt is required, up to its ceiling', async () => {
  const slow = (seconds: number) => ({
    text: `${RULES}Crawl-delay: ${seconds}\n`,
    rules: digestOf(`${RULES}Crawl-delay: ${seconds}\n`),
  });
  const visits = (seconds: number, gapMs: number): Planted => ({
    robots: [{ ...ROBOTS, text: slow(seconds).text }],
    requests: [...FIRST, page(gapMs, '/a')].map((request) =>
      request.rules ? { ...request, rules: slow(seconds).rules } : request,
    ),
  });
  assertFound(await audited(visits(8, 8_000)), []);
  const report = await audited(visits(8, 7_999));
  assertFound(report, ['gap']);
  assert.match(report.findings.violations[0]!.says, /8\.000 s were required: the Crawl-delay of its robots\.txt$/);
  assertFound(await audited(visits(100_000, 600_000)), []);
  assertFound(await audited(visits(100_000, 599_999)), ['gap']);
});

test('what the crawler noted itself is required too: at the first visit, and before the second', async () => {
  assertFound(
    await audited({
      robots: [ROBOTS],
      requests: [...FIRST, page(5_000, '/a', { delayMs: 9_000 }), page(13_999, '/b')],
    }),
    ['gap'],
  );
  assertFound(
    await audited({ robots: [ROBOTS], requests: [...FIRST, page(5_000, '/a'), page(13_999, '/b', { restMs: 9_000 })] }),
    ['gap'],
  );
  assertFound(
    await audited({
      robots: [ROBOTS],
      requests: [...FIRST, page(5_000, '/a', { delayMs: 9_000 }), page(14_000, '/b', { restMs: 9_000 })],
    }),
    [],
  );
});

test('a visit that begins before the one before it has ended is found; one without an end cannot be judged by it', async () => {
  const requests = (tookMs: number | null): PlantedRequest[] => [
    ...FIRST,
    page(5_000, '/slow', { tookMs }),
    page(20_000, '/b'),
  ];
  assertFound(await audited({ robots: [ROBOTS], requests: requests(15_000) }), []);
  const report = await audited({ robots: [ROBOTS], requests: requests(15_001) });
  assertFound(report, ['overlap']);
  assert.match(
    report.findings.violations[0]!.says,
    /\/b\), 1 ms before the visit of 2026-01-01 12:00:05\.000 had ended \(http:\/\/a\.example\/slow\)$/,
  );
  assertFound(await audited({ robots: [ROBOTS], requests: requests(null) }), []);
});

test('a second page in one visit is found; another address of the same host is no second request', async () => {
  assertFound(await audited({ robots: [ROBOTS], requests: [...FIRST, page(300, '/a', { lease: 1 })] }), [
    'twice-in-visit',
  ]);
  const redial = [
    page(5_000, '/a', { lease: 9, result: 'refused' }),
    page(5_200, '/a', { lease: 9, address: '192.0.2.2' }),
  ];
  assertFound(await audited({ robots: [ROBOTS], requests: [...FIRST, ...redial] }), []);
});

test('a request that was counted for another site than that of its URL is found', async () => {
  assertFound(await audited({ robots: [ROBOTS], requests: [...FIRST, page(5_000, '/a', { site: 'b.example' })] }), [
    'wrong-site',
    'no-robots',
  ]);
});

test('a page that robots.txt forbids is found, with the line that forbids it', async () => {
  const report = await audited({ robots: [ROBOTS], requests: [...FIRST, page(5_000, '/private/x')] });
  assertFound(report, ['forbidden']);
  assert.match(report.findings.violations[0]!.says, /forbids it \(line 2: Disallow: \/private\/\)$/);
});

test('a page before any robots.txt of its origin is found', async () => {
  assertFound(
    await audited({
      robots: [{ ...ROBOTS, at: DELAY_MS }],
      requests: [page(0, '/early'), ...FIRST.map((request) => ({ ...request, at: request.at + DELAY_MS, lease: 9 }))],
    }),
    ['no-robots'],
  );
  const otherOrigin: PlantedRequest = { ...page(5_000, '/a'), url: 'http://www.a.example/', site: 'a.example' };
  assertFound(await audited({ robots: [ROBOTS], requests: [...FIRST, otherOrigin] }), ['no-robots']);
});

test("a robots.txt holds for a day, and for the time its request and the page's may take", async () => {
  const late = (ms: number): Planted => ({
    robots: [ROBOTS],
    requests: [...FIRST, page(ROBOTS_TTL_MS + ms, '/a')],
    settings: { timeoutMs: 1_000 },
  });
  assertFound(await audited(late(3_000)), []);
  assertFound(await audited(late(3_001)), ['stale-robots']);
});

test('rules with another digest than those of the robots.txt in force are found', async () => {
  assertFound(await audited({ robots: [ROBOTS], requests: [...FIRST, page(5_000, '/a', { rules: 'wrong' })] }), [
    'wrong-rules',
  ]);
});

test('a robots.txt in trouble changes nothing, one that is gone allows everything', async () => {
  const at = 5_000;
  const again = { at, url: `${SITE}/robots.txt`, lease: 7 };
  const trouble: Planted = {
    robots: [ROBOTS, { ...ROBOTS, at, status: 503 }],
    requests: [...FIRST, { ...again, result: '503' }, page(10_000, '/a')],
  };
  assertFound(await audited(trouble), []);
  assertFound(
    await audited({ ...trouble, requests: [...trouble.requests.slice(0, -1), page(10_000, '/a', { rules: 'wrong' })] }),
    ['wrong-rules'],
  );
  const gone: Planted = {
    robots: [ROBOTS, { ...ROBOTS, at, status: 404 }],
    requests: [...FIRST, { ...again, result: '404' }, page(at + 100, '/private/x', { lease: 7, rules: digestOf('') })],
  };
  assertFound(await audited(gone), []);
});

test('a robots.txt is followed through its redirects, and holds for the origin that it was asked for', async () => {
  const there = 'http://elsewhere.example/rules.txt';
  const robots: PlantedRobots[] = [
    { ...ROBOTS, status: 301, text: '', location: there },
    { at: 50, url: there, text: RULES, goesOn: true },
  ];
  const requests: PlantedRequest[] = [
    { ...FIRST[0]!, result: '301' },
    { at: 50, url: there, site: 'a.example', kind: 'follow', lease: 1 },
    FIRST[1]!,
    page(5_000, '/private/x'),
  ];
  assertFound(await audited({ robots, requests }), ['forbidden']);
});

test('what a killed visit read is matched with what the repeated one read, and else counted as not checked', async () => {
  const killed: PlantedRequest[] = [
    { at: 0, url: `${SITE}/robots.txt`, lease: 1 },
    page(150, '/private/x', { lease: 1, tookMs: null }),
  ];
  const again = FIRST.map((request) => ({ ...request, at: request.at + 10_000, lease: 50 }));
  assertFound(await audited({ robots: [{ ...ROBOTS, at: 10_000 }], requests: [...killed, ...again] }), ['forbidden']);
  const other = `${RULES}Disallow: /new/\n`;
  const changed = again.map((request) => (request.rules ? { ...request, rules: digestOf(other) } : request));
  assertFound(
    await audited({ robots: [{ ...ROBOTS, at: 10_000, text: other }], requests: [...killed, ...changed] }),
    [],
    {
      'not-archived': 1,
    },
  );
});

test('a robots.txt whose settlement was refused was read, but its Crawl-delay holds for nobody', async () => {
  const text = `${RULES}Crawl-delay: 60\n`;
  const refused: Planted = {
    robots: [{ ...ROBOTS, text, dead: true }],
    requests: [FIRST[0]!, { ...FIRST[1]!, rules: digestOf(text) }, page(5_000, '/a', { rules: digestOf(text) })],
  };
  assertFound(await audited(refused), []);
});

test('without an archive the gaps are judged, and robots decisions are said not to be', async () => {
  const report = await audited({ requests: [...FIRST, page(4_000, '/a')], settings: { keep: 'none' } });
  assertFound(report, ['gap'], { 'nothing-archived': 2 });
});

test('a ledger that is off, missing or damaged is said to be so', async () => {
  const gone = (dir: string): void => rmSync(join(dir, 'ledger'), { recursive: true });
  assert.match(
    (await audited({ requests: FIRST }, gone)).damage.join(),
    /has no ledger: no request was sent yet, the ledger was off, or its folder "ledger" was removed/,
  );
  const off = await audited({ requests: FIRST, settings: { ledger: 'off' } }, gone);
  assert.match(off.damage.join(), /has no ledger: it is off \(--ledger off\)/);
  assert.match(off.remarks.join(), /the ledger was off in a run/);
  const torn = await audited({ robots: [ROBOTS], requests: FIRST }, (dir) =>
    writeFileSync(join(dir, 'ledger', readdirSync(join(dir, 'ledger'))[0]!), 'broken'),
  );
  assert.match(torn.damage.join(), /of the ledger cannot be read/);
});

test('an archive that is torn where it ends is read up to there, one that is damaged before is named', async () => {
  const files = (dir: string): string[] => readdirSync(join(dir, 'warc')).map((name) => join(dir, 'warc', name));
  const cut = (dir: string): void => files(dir).forEach((path) => truncateSync(path, statSync(path).size - 5));
  assertFound(await audited({ robots: [ROBOTS], requests: FIRST }, cut), []);
  const report = await audited({ robots: [ROBOTS], requests: FIRST }, (dir) =>
    files(dir).forEach((path) => appendFileSync(path, 'this is no record at all')),
  );
  assert.match(report.damage.join(), /cannot be read: no gzip member begins here/);
});

test('the delay of a rule is required instead of that of the crawl, shorter or longer', async () => {
  const rule = (delayMs: number) => ({ delayMs, rule: { delayMs, own: false, robotsIgnored: false } });
  const requests = (delayMs: number): PlantedRequest[] => [
    ...FIRST.map((one) => ({ ...one, ...rule(delayMs) })),
    page(2_000, '/a', rule(delayMs)),
    page(2_000 + 3 * DELAY_MS, '/b', rule(delayMs)),
  ];
  assertFound(await audited({ robots: [ROBOTS], requests: requests(1_000) }), []);
  const report = await audited({ robots: [ROBOTS], requests: requests(4 * DELAY_MS) });
  assertFound(report, ['gap', 'gap']);
  assert.match(
    report.findings.violations[0]!.says,
    /20\.000 s were required: the delay that a rule for this site sets/,
  );
});

test('requests to own sites are counted apart: a Crawl-delay and robots.txt are not required of them, overlaps are found', async () => {
  const robots = { ...ROBOTS, text: 'User-agent: *\nDisallow: /private/\nCrawl-delay: 9\n' };
  const own = { delayMs: 0, rule: { delayMs: 0, own: true, robotsIgnored: false } };
  const rules = digestOf(robots.text);
  const obeyed = await audited({
    robots: [robots],
    requests: [
      { at: 0, url: `${SITE}/robots.txt`, ...own },
      page(150, '/a', { rules, ...own }),
      page(300, '/private/b', { rules, ...own }),
    ],
  });
  assertFound(obeyed, ['forbidden']);
  assert.deepEqual([obeyed.own, obeyed.robotsIgnored], [3, 0]);
  const ignored = { delayMs: 0, rule: { ...own.rule, robotsIgnored: true } };
  const report = await audited({
    requests: [page(0, '/private/a', ignored), page(100, '/b', ignored), page(150, '/c', ignored)],
  });
  assertFound(report, ['overlap']);
  assert.deepEqual([report.requests, report.own, report.robotsIgnored], [3, 3, 3]);
});
