/** The first command that a stranger runs. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endBinaries, runBinary } from '../support/binary.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-demo-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

test('the demo crawls its small web, which saw nothing to complain of', async () => {
  const demo = fileURLToPath(new URL('../../demo/demo.ts', import.meta.url));
  const ran = await runBinary([demo], { command: [process.execPath], cwd: home });
  assertCode(ran, 0);
  assert.equal(ran.stdout.match(/✔/g)?.length, 7);
  assert.doesNotMatch(ran.stdout, /✘|could not be reached:/);
});
