/** Whoever read the output is gone: a crawl goes on to its real end, a command that only prints ends. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { GOSSAMER, runBinary } from '../support/binary.ts';
import { onStage, plainPlan, type Stage } from '../support/stage.ts';

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

type Output = 'stdout' | 'stderr';

/** The pipe is closed before the first word: `head -n 0` reads nothing. The exit code is that of gossamer. */
const runUnread = async (stage: Stage, output: Output, words: readonly string[]): Promise<number> => {
  const codeFile = join(stage.home, 'code');
  const command = [process.execPath, GOSSAMER, ...words].map(quoted).join(' ');
  const redirect = output === 'stdout' ? '' : '2>&1 >/dev/null';
  const ran = await runBinary(['-c', `{ ${command}; echo $? >${quoted(codeFile)}; } ${redirect} | head -n 0`], {
    command: ['sh'],
    cwd: stage.home,
  });
  assert.equal(ran.signal, null);
  return Number(readFileSync(codeFile, 'utf8'));
};

for (const output of ['stdout', 'stderr'] as const)
  test(`a crawl whose ${output} is closed is finished`, () =>
    onStage(plainPlan(3, 60), async (stage) => {
      // A line per page on stderr, one at once on stdout.
      assert.equal(await runUnread(stage, output, stage.crawlWords({ 'log-level': 'debug' })), 0);
      const { waiting, leased, settled } = await stage.status();
      assert.deepEqual({ waiting, leased }, { waiting: 0, leased: 0 });
      assert.ok(settled >= 60, `${settled} settled`);
    }));

test('a crawl, and its resume, whose stdout is closed have the exit code of their end', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    const words = stage.crawlWords({ url: 'http://refused.example/', 'connect-to': 'refused.example:80:127.0.0.1:9' });
    assert.equal(await runUnread(stage, 'stdout', words), 5, 'a seed cannot be reached');
    assert.equal(await runUnread(stage, 'stdout', ['resume', stage.dir, '--retry-parked']), 5);
  }));

test('a command that only prints ends quietly when its stdout is closed', () =>
  onStage(plainPlan(3, 60), async (stage) => {
    assert.equal((await stage.crawl()).code, 0);
    assert.equal(await runUnread(stage, 'stdout', ['pages', stage.dir]), 0);
    assert.equal(await runUnread(stage, 'stdout', ['status', stage.dir]), 0);
  }));

test('a wrong use whose stderr is closed keeps its exit code', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    assert.equal(await runUnread(stage, 'stderr', ['crawl']), 2);
  }));
