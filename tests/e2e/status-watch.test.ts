/** `status --watch` beside a crawl: it follows it, outlives it, and ends with Ctrl-C. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { endBinaries, GOSSAMER, runBinary, startBinary, type Running } from '../support/binary.ts';
import { serveHeldSites } from '../support/held-site.ts';
import { assertCode, type Status } from '../support/stage.ts';
import { until } from '../support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-watch-'));
const dir = join(home, 'crawl');
after(() => {
  endBinaries();
  rmSync(home, { recursive: true, force: true });
});

/** On a terminal that can be drawn on. */
const watchInTerminal = (): Running =>
  startBinary(
    [
      '--quiet',
      '--return',
      '--command',
      `exec '${process.execPath}' '${GOSSAMER}' status '${dir}' --watch 100ms`,
      '/dev/null',
    ],
    {
      command: ['script'],
      env: { ...process.env, NO_COLOR: '1', TERM: 'xterm' },
    },
  );

const linesSaid = (running: Running): string[] => running.said().split('\n').slice(0, -1);

test('it follows a crawl, goes on when that has ended and says so, and ends with Ctrl-C and exit code 0', async () => {
  const sites = await serveHeldSites();
  const crawl = startBinary([
    ...['crawl', ...sites.seeds.flatMap((seed) => ['--url', seed]), '--dir', dir, '--email', 'test@example.org'],
    ...sites.connectTo.flatMap((rule) => ['--connect-to', rule]),
    ...['--delay', '1ms', '--disk-reserve', '0', '--timeout', '600s', '--quiet'],
  ]);
  await until('the crawl has a store', async () => (await runBinary(['status', dir])).code === 0);
  const text = startBinary(['status', dir, '--watch', '100ms']);
  const json = startBinary(['status', '--watch', '100ms', dir, '--json']);
  const drawn = watchInTerminal();
  const all = [text, json, drawn];
  await until('each has looked twice', () => all.every((one) => (one.said().match(/process/g) ?? []).length >= 2));
  assert.match(
    linesSaid(text)[0]!,
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d \\d+ pages? on \\d+ sites?, .* settled; process ${crawl.pid} is at work$`),
  );
  assert.equal((JSON.parse(linesSaid(json)[0]!) as Status).process, crawl.pid);
  sites.release();
  await crawl.ended;
  await sites.close();
  await until(
    'each has seen the end',
    () =>
      [text, drawn].every((one) => one.said().includes('no process is at work')) &&
      json.said().includes('"process":null'),
  );
  const { waiting, leased } = JSON.parse(linesSaid(json).at(-1)!) as Status;
  assert.deepEqual([waiting, leased], [0, 0]);
  assert.ok(drawn.said().includes('\x1b['), 'a terminal is drawn on again in place');
  for (const one of [text, json]) {
    assert.ok(!one.said().includes('\x1b'), 'a pipe gets lines');
    one.send('SIGINT');
    assertCode(await one.ended, 0);
  }
  drawn.send('SIGTERM');
  await drawn.ended;
});

test('a time that is none, or too short, gets a sentence', async () => {
  for (const [word, says] of [
    ['--watch=often', /--watch "often" is not understood: write a time with its unit/],
    ['--watch=1ms', /of at least 100ms/],
  ] as const) {
    const ran = await runBinary(['status', dir, word]);
    assertCode(ran, 2);
    assert.match(ran.stderr, says);
  }
});
