/**
 * Two rows of the failure table, in small: a Redis that fails over to a replica which is behind, and slots of a cluster
 * that are moved under load. All rows: `npm run chaos`.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { onLoopback } from '../support/chaos-network.ts';
import { runRow, type RowResult } from '../support/chaos-run.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-chaos-'));
after(() => rmSync(home, { recursive: true, force: true }));

/** The last lines of a row are shown when it fails. */
const LINES = 30;

const run = async (row: string, store: string): Promise<RowResult> => {
  const said: string[] = [];
  const result = await runRow(row, {
    network: onLoopback(),
    options: { store, rows: [row], seconds: 20, seed: 7, sites: 40, hits: 1, home, keep: false },
    say: (line) => void said.push(line),
  });
  assert.deepEqual(result.violations, [], `${said.slice(-LINES).join('\n')}\n${result.violations.join('\n')}`);
  assert.equal(result.hits, 1);
  return result;
};

suite('three members on one crawl', { concurrency: true }, () => {
  test('a Redis fails over to a replica that is 3 s behind: nobody is early, nothing is lost, repeats are listed', async () => {
    await run('failover', 'redis');
  });

  test('1,500 slots of a Redis Cluster move to another node with their keys, and the crawl goes on', async () => {
    const { remarks } = await run('reshard', 'redis-cluster');
    assert.match(remarks.join('\n'), /^[1-9]\d* keys were moved with 1500 slots$/m);
  });
});
