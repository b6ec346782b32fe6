/** The log: JSON lines in a file that stays small, whoever else touches it, and warnings that do not repeat. */

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openLogFile, OLDER_FILES } from '../src/observe/log-file.ts';
import { openLog, type Level, type OpenLog } from '../src/observe/log.ts';
import { createRepeats, kindOf, SUMMED_MS } from '../src/observe/repeats.ts';
import { until } from './support/until.ts';

let dir: string;
let path: string;
let opened: { close(): void }[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gossamer-log-'));
  path = join(dir, 'logs', 'gossamer.log');
});
afterEach(() => {
  for (const one of opened) one.close();
  opened = [];
  rmSync(dir, { recursive: true });
});

const opening = <T extends { close(): void }>(one: T): T => {
  opened.push(one);
  return one;
};
const logTo = (where: string, level: Level = 'info', shown: string[] = []): OpenLog =>
  opening(openLog({ path: where, level, show: (at, message) => void shown.push(`${at} ${message}`) }));
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
const objectsOf = (file: string): Record<string, unknown>[] =>
  linesOf(file).map((line) => JSON.parse(line) as Record<string, unknown>);

test('a line of the file is one JSON object: time, level, message, and what is known beside it', () => {
  const { log } = logTo(path);
  log('info', 'run begins', { settings: { email: 'a@example.org', connectTo: [] } });
  log('error', 'two\nlines "quoted"', { thread: 'fetch-1', status: null, tookMs: 12 });
  const [first, second] = objectsOf(path);
  assert.match(String(first!.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    { ...first, time: '' },
    { time: '', level: 'info', message: 'run begins', settings: { email: 'a@example.org', connectTo: [] } },
  );
  assert.deepEqual(
    { ...second, time: '' },
    { time: '', level: 'error', message: 'two\nlines "quoted"', thread: 'fetch-1', status: null, tookMs: 12 },
  );
});

test('lines of a lower level are neither written nor shown', () => {
  const shown: string[] = [];
  const { log } = logTo(path, 'warn', shown);
  log('debug', 'a page');
  log('info', 'some news');
  log('warn', 'a warning');
  assert.deepEqual(shown, ['warn a warning']);
  assert.deepEqual(
    objectsOf(path).map(({ message }) => message),
    ['a warning'],
  );
});

test('a text that is very long is cut in the file', () => {
  const { log } = logTo(path);
  log('error', 'x'.repeat(1_000_000));
  assert.ok(statSync(path).size < 10_000);
  assert.match(String(objectsOf(path)[0]!.message), /^x+…$/);
});

test('the file is rolled by size, and only some older ones are kept', () => {
  const file = opening(openLogFile(path, 1_000));
  for (let n = 0; n < 1_000; n++) assert.ok(file.write(`line ${n}`.padEnd(99)));
  assert.deepEqual(readdirSync(join(dir, 'logs')).toSorted(), [
    'gossamer.log',
    'gossamer.log.1',
    'gossamer.log.2',
    'gossamer.log.3',
  ]);
  const all = Array.from({ length: OLDER_FILES }, (_, i) => `${path}.${OLDER_FILES - i}`).concat(path);
  for (const one of all) assert.equal(statSync(one).size, 1_000);
  const kept = all.flatMap(linesOf).map((line) => Number(line.split(' ')[1]));
  assert.deepEqual(
    kept,
    Array.from({ length: 40 }, (_, i) => 960 + i),
    'the newest lines, none lost in between',
  );
});

test('a file that was there is written on, and its length counts', () => {
  mkdirSync(join(dir, 'logs'));
  writeFileSync(path, 'x'.repeat(900));
  const file = opening(openLogFile(path, 1_000));
  file.write('y'.repeat(99));
  file.write('z'.repeat(99));
  assert.equal(statSync(`${path}.1`).size, 1_000);
  assert.equal(readFileSync(path, 'utf8'), `${'z'.repeat(99)}\n`);
});

test('copytruncate: a truncated file has no hole and is not rolled before it is full again', () => {
  const file = opening(openLogFile(path, 1_000));
  for (let n = 0; n < 9; n++) file.write('x'.repeat(99));
  truncateSync(path);
  for (let n = 0; n < 9; n++) file.write('y'.repeat(99));
  assert.equal(readFileSync(path, 'utf8'), `${'y'.repeat(99)}\n`.repeat(9));
  assert.ok(!existsSync(`${path}.1`));
});

test('after a rename and reopen() the next line is in a new file', () => {
  const { log, reopen } = logTo(path);
  log('info', 'before');
  renameSync(path, join(dir, 'away.log'));
  log('info', 'still before');
  reopen();
  log('info', 'after');
  assert.deepEqual(
    objectsOf(join(dir, 'away.log')).map(({ message }) => message),
    ['before', 'still before'],
  );
  assert.deepEqual(
    objectsOf(path).map(({ message }) => message),
    ['after'],
  );
});

for (const [what, act] of [
  ['renamed away', () => renameSync(path, `${path}.1`)],
  ['deleted with its folder', () => rmSync(join(dir, 'logs'), { recursive: true })],
] as const) {
  test(`that the file was ${what} is noticed without a word`, async () => {
    const { log } = logTo(path);
    log('info', 'before');
    act();
    await until('a line is in a new file', () => {
      log('info', 'after');
      return existsSync(path);
    });
    assert.equal(objectsOf(path)[0]!.message, 'after');
  });
}

test('two that write to one file break no line, and both follow when one of them rolls it', async () => {
  const [one, other] = [opening(openLogFile(path, 20_000)), opening(openLogFile(path, 20_000))];
  other.write('o'.repeat(99));
  for (let n = 0; n < 250; n++) one.write('m'.repeat(99));
  await until('the other follows', () => other.write('o'.repeat(99)) && linesOf(path).includes('o'.repeat(99)));
  for (const line of [...linesOf(`${path}.1`), ...linesOf(path)]) assert.match(line, /^(m{99}|o{99})$/);
});

test('a disk that is full costs lines of the log and nothing else', () => {
  const shown: string[] = [];
  const { log } = logTo('/dev/full', 'info', shown); // the device whose every write fails so
  log('info', 'one');
  log('error', 'two');
  assert.deepEqual(shown, ['info one', 'error two']);
});

test('lines that could not be written are counted, and the count is written when a line can be', () => {
  const blocked = join(dir, 'blocked');
  writeFileSync(blocked, 'a file where a folder should be');
  const { log } = logTo(join(blocked, 'gossamer.log'));
  log('info', 'one');
  log('info', 'two');
  rmSync(blocked);
  log('info', 'three');
  assert.deepEqual(
    objectsOf(join(blocked, 'gossamer.log')).map(({ message }) => message),
    ['three', '2 lines of the log could not be written before this one'],
  );
});

test('messages that differ in numbers, addresses and quoted parts are of one kind', () => {
  assert.equal(
    kindOf('page "a b" of http://a.example/x?y=1 took 1.5 s, 1,234 bytes'),
    kindOf('page "c" of https://b.example/ took 12 s, 5 bytes'),
  );
  assert.notEqual(kindOf('thread died: no memory'), kindOf('thread died: no descriptor'));
});

test('of a warning that repeats the first is said, the others are counted and summed up each minute', () => {
  const repeats = createRepeats<string>();
  assert.equal(repeats.note('a', 'first', 0), true);
  for (let n = 0; n < 1_234; n++) assert.equal(repeats.note('a', 'again', 10 + n), false);
  assert.equal(repeats.note('b', 'another', 2_000), true);
  assert.equal(repeats.nextMs(), SUMMED_MS);
  assert.deepEqual(repeats.over(SUMMED_MS - 1), []);
  assert.deepEqual(repeats.over(SUMMED_MS), [
    { first: 'first', more: 1_234, words: '… and 1,234 more like it in the last minute' },
  ]);
  assert.equal(repeats.note('a', 'again', SUMMED_MS + 5), false, 'it goes on: still counted');
  assert.deepEqual(repeats.over(2 * SUMMED_MS), [
    { first: 'first', more: 1, words: '… and 1 more like it in the last minute' },
  ]);
  assert.deepEqual(repeats.over(3 * SUMMED_MS), []);
  assert.equal(repeats.note('a', 'anew', 3 * SUMMED_MS + 1), true, 'after a minute without it, it is news again');
});

test('a flood of warnings of all kinds stays a few lines', () => {
  const repeats = createRepeats<string>();
  let said = 0;
  for (let n = 0; n < 100_000; n++) if (repeats.note(`kind ${n}`, `line ${n}`, 1)) said++;
  assert.equal(said, 201);
  assert.deepEqual(repeats.over(SUMMED_MS + 1), [
    { first: 'line 200', more: 99_799, words: '… and 99,799 other warnings in the last minute' },
  ]);
});

test('the log counts warnings that repeat, and says at its end what it has not said', () => {
  const shown: string[] = [];
  const { log, close } = logTo(path, 'info', shown);
  for (let n = 0; n < 5_000; n++) log('warn', `page ${n} is odd`, { url: `http://a.example/${n}` });
  for (let n = 0; n < 3; n++) log('warn', `slow ${'x'.repeat(n)}`, { kind: 'slow' });
  for (let n = 0; n < 3; n++) log('warn', 'counted elsewhere', { kind: null });
  for (let n = 0; n < 3; n++) log('error', 'an error is always said');
  close();
  const messages = objectsOf(path).map(({ message }) => String(message).replace(/last .*s$/, 'last moment'));
  assert.deepEqual(messages, [
    'page 0 is odd',
    'slow ',
    ...Array<string>(3).fill('counted elsewhere'),
    ...Array<string>(3).fill('an error is always said'),
    'page 0 is odd … and 4,999 more like it in the last moment',
    'slow  … and 2 more like it in the last moment',
  ]);
  assert.deepEqual(
    objectsOf(path)
      .filter(({ more }) => more !== undefined)
      .map(({ more, url }) => [more, url]),
    [
      [4_999, 'http://a.example/0'],
      [2, undefined],
    ],
  );
  assert.equal(shown.length, messages.length, 'the terminal shows what the file has');
});

test('a minute ends also when nothing more is logged', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const shown: string[] = [];
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { log } = logTo(path, 'info', shown);
  log('warn', 'odd');
  log('warn', 'odd');
  nowMs = SUMMED_MS;
  t.mock.timers.tick(SUMMED_MS);
  assert.deepEqual(shown, ['warn odd', 'warn odd … and 1 more like it in the last minute']);
});
