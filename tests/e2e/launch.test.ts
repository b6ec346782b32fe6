/**
 * How the binary starts: what was compiled is remembered where there is room for it, and a start never hangs on that.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { VERSION } from '../../src/folder/version.ts';
import { GOSSAMER, runBinary } from '../support/binary.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-launch-'));
after(() => rmSync(home, { recursive: true, force: true }));

/** Nothing that this test run itself has set. */
const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, XDG_CACHE_HOME: ___, ...plain } = process.env;

const assertStarts = async (env: NodeJS.ProcessEnv, cwd = home): Promise<void> => {
  const ran = await runBinary(['--version'], { env: { ...plain, ...env }, cwd });
  assert.deepEqual([ran.code, ran.signal, ran.stderr], [0, null, '']);
  assert.match(ran.stdout, /^gossamer \d/);
};

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());

test('what was compiled is remembered in the cache of the home directory, or where XDG_CACHE_HOME says', async () => {
  await assertStarts({ HOME: home });
  const remembered = filesIn(join(home, '.cache', 'gossamer'));
  assert.ok(remembered.length > 20, String(remembered.length));

  const caches = join(home, 'caches');
  await assertStarts({ HOME: home, XDG_CACHE_HOME: caches });
  assert.equal(filesIn(join(caches, 'gossamer')).length, remembered.length);
});

test('what the threads of a crawl compiled is remembered, too', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    const caches = join(home, 'of-threads');
    await assertStarts({ XDG_CACHE_HOME: caches });
    const before = filesIn(caches).length; // all of the program that the main thread has
    assertCode(await runBinary(stage.crawlWords(), { env: { ...plain, XDG_CACHE_HOME: caches } }), 0);
    assert.ok(filesIn(caches).length > before + 20, `${before}, then ${filesIn(caches).length}`);
  }));

test('damage in it is not noticed', async () => {
  const ours = join(home, 'damaged');
  await assertStarts({ XDG_CACHE_HOME: ours });
  for (const [n, path] of filesIn(ours).entries()) {
    if (n % 2 === 0) truncateSync(path, 7);
    else writeFileSync(path, Buffer.alloc(5_000, n));
  }
  await assertStarts({ XDG_CACHE_HOME: ours });
});

test('where nothing can be remembered the binary starts all the same', async () => {
  const file = join(home, 'file');
  writeFileSync(file, '');
  // In /proc nobody can make a folder, and Node's own way of making several at once would try for ever.
  for (const caches of [file, join(file, 'below'), join(home, 'not', 'there'), '/proc', '/proc/1/none'])
    await assertStarts({ XDG_CACHE_HOME: caches });
  await assertStarts({ HOME: '/proc' });
});

test('without a home nothing is remembered, least of all in the folder that somebody is in', async () => {
  const here = join(home, 'here');
  mkdirSync(here);
  await assertStarts({ HOME: '' }, here);
  await assertStarts({ HOME: 'relative' }, here);
  await assertStarts({ HOME: home, XDG_CACHE_HOME: 'relative' }, here);
  assert.deepEqual(readdirSync(here), []);
});

test('NODE_DISABLE_COMPILE_CACHE and NODE_COMPILE_CACHE are heeded', async () => {
  const none = join(home, 'none');
  mkdirSync(none);
  await assertStarts({ HOME: none, NODE_DISABLE_COMPILE_CACHE: '1' });
  await assertStarts({ HOME: none, NODE_COMPILE_CACHE: join(home, 'elsewhere') });
  assert.deepEqual(readdirSync(none), []);
  assert.ok(filesIn(join(home, 'elsewhere')).length > 20);
});

test('in a clone, bin/gossamer starts the binary with the Node of the clone, from any folder and through a link', async () => {
  const link = join(home, 'gossamer');
  symlinkSync(join(dirname(GOSSAMER), 'gossamer'), link);
  const ran = await runBinary(['--version'], { command: [link], cwd: home, env: { PATH: '/usr/bin:/bin' } });
  rmSync(link);
  assertCode(ran, 0);
  assert.equal(ran.stdout, `gossamer ${VERSION}\n`);
});

/** A Node on this machine that is too old, if there is one. */
const oldNode = (): string | null => {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(delimiter)];
  for (const path of folders.map((folder) => join(folder, 'node'))) {
    try {
      if (existsSync(path) && Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]) < 24)
        return path;
    } catch {
      // not a Node that starts
    }
  }
  return null;
};

test('started by an older Node, the binary says so in one sentence', async (t) => {
  const node = oldNode();
  if (node === null) return t.skip('there is no older Node on this machine');
  const ran = await runBinary(['--version'], { command: [node, GOSSAMER] });
  assertCode(ran, 2);
  assert.match(ran.stderr, /^gossamer needs Node 24 or newer, and this is Node \d+\.\d+\.\d+: [^\n]+\n$/);
  assert.equal(ran.stdout, '');
});
