/** What a crawl shows on a terminal: whatever its size, the important things are there and nothing is too wide. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { blockOf, type Size } from '../src/cli/live-view.ts';
import { lineOf, waitingFor } from '../src/cli/progress.ts';
import { widthOf, cutToWidth, fitToWidth } from '../src/lib/text-width.ts';
import type { Census } from '../src/model/census.ts';
import type { Settings } from '../src/model/settings.ts';
import { createActivityNotes, joinActivities, type Activity } from '../src/observe/activity.ts';
import type { Snapshot } from '../src/observe/snapshot.ts';

const CENSUS = {
  now: 0,
  pages: 1_234_567,
  waiting: 7_654_321,
  leased: 87,
  parked: 92,
  held: 3,
  settled: { fetched: 1_234_000, 'client-error': 412, 'failed-refused': 33, 'failed-tls': 20, 'server-error': 7 },
  sites: { known: 120_000, parked: 54, held: 1 },
  sitesDue: 3,
  archivedBytes: 5e10,
} as unknown as Census;

const LIMIT = 'politeness: 3 of 120,000 sites may be visited now';

const activityOf = (pages: number): Activity => {
  const notes = createActivityNotes();
  for (let i = 0; i < pages; i++) {
    const site = `site-${i % 9}.example`;
    const failure = i % 9 === 4 ? '503' : null;
    const url = `https://${site}/${'長い'.repeat(i)}/\x1b[2J/page-${i}`;
    const page = { url, outcome: failure ? 'server-error' : 'fetched', status: failure ? 503 : 200, tookMs: 12 * i };
    notes.ended({ lease: i, site, page, failure }, i);
  }
  notes.begun(1_000, 'https://slow.example/held', pages - 12_000);
  return notes.now(pages);
};

const SNAPSHOT = {
  phase: 'crawling',
  census: CENSUS,
  elapsedMs: 83_000,
  pagesThisRun: 400,
  rereading: null,
  pagesPerSecond: 231.4,
  pagesPerSecondMean: 187.2,
  limit: { kind: 'politeness', words: LIMIT },
  activity: activityOf(60),
  visits: 87,
  memoryBytes: 4e8,
  receivedBytes: 7e10,
  diskFreeBytes: 8e10,
  restarts: 1,
  progress: 0.61,
} as unknown as Snapshot;

const SETTINGS = { maxPages: 2_000_000, maxDurationMs: null, timeoutMs: 30_000, store: 'sqlite' } as Settings;

const block = (size: Size, snapshot = SNAPSHOT, settings = SETTINGS): string[] =>
  blockOf(snapshot, { dir: './a-directory-with-a-name-that-is-long', settings, size });

for (const columns of [50, 80, 120, 210, 400])
  for (const rows of [10, 24, 60])
    test(`at ${columns} x ${rows} no line is too wide, none too many, and what is important is there`, () => {
      const lines = block({ columns, rows });
      assert.ok(lines.length <= rows - 1, `${lines.length} lines`);
      for (const line of lines) assert.ok(widthOf(line) < columns, line);
      const text = lines.join('\n');
      const wrapped = text.replace(/\s+/g, ' ');
      assert.match(text, /1,234,567/);
      assert.match(text, /231\/s now/);
      assert.match(text, /7,654,321 waiting/);
      assert.ok(wrapped.includes(LIMIT), text);
      assert.match(text, /client-error 412/);
      assert.match(text, /00:01:23/);
      assert.match(text, /61 %/);
      assert.doesNotMatch(text, /\x1b/, 'no colours without a terminal, and nothing from the web');
    });

test('a terminal with room shows the last pages, and the busiest and the failing sites', () => {
  for (const columns of [80, 210]) {
    const text = block({ columns, rows: 40 }).join('\n');
    assert.match(text, /last pages\n +200 +708ms +https:\/\/site-5\.example\//, text);
    assert.match(text, /busiest sites/);
    assert.match(text, /failing sites/);
    assert.match(text, /7 of 7 503 +site-4\.example/);
    assert.match(text, /failed-tls 20/);
  }
});

test('on a terminal of a few columns or lines there is a view, if a poor one', () => {
  for (const size of [
    { columns: 1, rows: 1 },
    { columns: 12, rows: 3 },
    { columns: 20, rows: 5 },
  ]) {
    const lines = block(size);
    assert.ok(lines.length <= Math.max(1, size.rows - 1));
    for (const line of lines) assert.ok(widthOf(line) <= Math.max(1, size.columns - 1), JSON.stringify(line));
  }
});

test('one of several processes shows its own pages beside those of the crawl', () => {
  const shared = { ...SETTINGS, store: 'redis://127.0.0.1' } as Settings;
  assert.match(block({ columns: 80, rows: 24 }, SNAPSHOT, shared).join('\n'), /1,234,567 .*400 by this process/);
  assert.doesNotMatch(block({ columns: 80, rows: 24 }).join('\n'), /by this process/);
  assert.match(lineOf(SNAPSHOT, shared), /1,234,567 pages, 400 by this process/);
  assert.doesNotMatch(lineOf(SNAPSHOT, SETTINGS), /by this process/);
});

test('a line of progress says what limits the speed, and is one line', () => {
  const line = lineOf(SNAPSHOT, SETTINGS);
  assert.ok(line.endsWith(`; limited by ${LIMIT}`), line);
  assert.doesNotMatch(line, /\n/);
});

test('a crawl that begins no more visits says which one it waits for, and for how long', () => {
  const one = { ...SNAPSHOT, visits: 1, census: { ...CENSUS, pages: 1_999_999, leased: 1 } };
  const words = 'waiting for https://slow.example/held (12s)';
  assert.equal(waitingFor(one, SETTINGS), words, 'the last page of --max-pages');
  assert.ok(block({ columns: 50, rows: 10 }, one).join(' ').replace(/\s+/g, ' ').includes(`ending ${words}`));
  assert.ok(lineOf(one, SETTINGS).endsWith(`; ${words}`));
  const free = { ...SETTINGS, maxPages: null };
  assert.equal(waitingFor(one, free), null, 'others can begin');
  assert.equal(waitingFor({ ...one, census: { ...one.census, waiting: 0 } }, free), words, 'nothing else waits');
  const stopping = waitingFor({ ...SNAPSHOT, phase: 'stopping' }, free);
  assert.match(stopping!, /^waiting for 87 visits, the longest is https:\/\/slow\.example\/held \(12s\); each has/);
});

test('wide characters take two columns, marks none, and a text is cut between characters', () => {
  assert.equal(widthOf('長い'), 4);
  assert.equal(widthOf('한국'), 4);
  assert.equal(widthOf('e\u0301'), 1);
  assert.equal(widthOf('🚀'), 2);
  assert.equal(widthOf('\x1b[31mred\x1b[0m'), 3);
  assert.equal(cutToWidth('長い長い', 6), '長い…');
  assert.equal(cutToWidth('abc', 3), 'abc');
  assert.equal(fitToWidth('長', 4), '長  ');
});

test('sites are counted over the last minute, and pages of all threads are in the order of their ends', () => {
  const notes = createActivityNotes();
  const end = (lease: number, site: string, at: number, failure: string | null = null): void =>
    notes.ended({ lease, site, page: { url: site, outcome: 'fetched', status: 200, tookMs: 1 }, failure }, at);
  end(1, 'old.example', 100_000);
  end(2, 'older-half.example', 125_000, 'reset');
  end(3, 'older-half.example', 131_000);
  const { busiest, failing } = notes.now(150_000);
  assert.deepEqual(
    busiest.map(({ site, visits }) => [site, visits]),
    [
      ['older-half.example', 2],
      ['old.example', 1],
    ],
  );
  assert.deepEqual(failing, [{ site: 'older-half.example', visits: 2, failures: 1, cause: 'reset' }]);
  assert.deepEqual(notes.now(400_000).busiest, [], 'long ago');
  const other = createActivityNotes();
  other.ended(
    { lease: 9, site: 'b', page: { url: 'b', outcome: 'fetched', status: 200, tookMs: 1 }, failure: null },
    130_000,
  );
  const joined = joinActivities([notes.now(150_000), other.now(150_000)]);
  assert.deepEqual(
    joined.last.map(({ endedAt }) => endedAt),
    [131_000, 130_000, 125_000, 100_000],
  );
});

test('notes have a ceiling however many sites and pages there are', () => {
  const notes = createActivityNotes();
  for (let i = 0; i < 20_000; i++)
    notes.ended(
      { lease: i, site: `s${i}`, page: { url: 'u', outcome: 'fetched', status: 200, tookMs: 1 }, failure: 'reset' },
      i / 1_000,
    );
  const { last, busiest, failing } = notes.now(20);
  assert.deepEqual([last.length, busiest.length, failing.length], [24, 12, 12]);
});

test('the captures in the docs fit their widths, and have what is important', () => {
  const page = readFileSync(new URL('../docs/live-view.md', import.meta.url), 'utf8');
  const captures = [...page.matchAll(/^## (\d+) columns, (\d+) lines\n\n```\n(.*?)\n```/gms)];
  assert.deepEqual(
    captures.map(([, columns]) => columns),
    ['50', '80', '120', '210'],
  );
  for (const [, columns, rows, text] of captures) {
    const lines = text!.split('\n');
    assert.ok(lines.length < Number(rows));
    for (const line of lines) assert.ok(widthOf(line) < Number(columns), line);
    assert.match(text!, /pages +[\d,]+ +\d+\/s now.*[\d,]+ waiting/s);
    assert.match(text!, /^ {2}limited by [a-z]+/im);
  }
});
