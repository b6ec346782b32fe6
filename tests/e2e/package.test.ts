/** The package as others get it: packed, installed in an empty project, and run without its sources. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/folder/version.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { runBinary, type Ran } from '../support/binary.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gossamer-package-'));
const project = join(home, 'project');
const installed = join(project, 'node_modules', 'gossamer');
const bin = join(project, 'node_modules', '.bin', 'gossamer');

/** This Node first, and nothing of the npm that runs the tests but where packages come from. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache|userconfig)$)/i.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};
const npm = (cwd: string, ...args: readonly string[]): Promise<Ran> => runBinary(args, { command: ['npm'], cwd, env });

before(async () => {
  // A copy, because packing builds into the folder that is packed.
  const clone = join(home, 'clone');
  mkdirSync(clone);
  for (const name of readdirSync(root)) {
    if (!/^(node_modules|dist|\.git|\.servers|crawl|demo-crawl|bench-crawl.*)$/.test(name))
      cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  assertCode(await npm(clone, 'pack', '--pack-destination', home), 0);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  assertCode(
    await npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(home, `gossamer-${VERSION}.tgz`)),
    0,
  );
});
after(() => rmSync(home, { recursive: true, force: true }));

test('the package holds what was built, its types and the examples, but no sources and no tests', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  for (const name of [
    'package.json',
    'bin/gossamer.js',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/main.js',
    'dist/threads/store-thread.js',
    'dist/store/sqlite/sql/schema.sql',
    'dist/store/redis/lua/claim.lua',
    'dist/store/postgres/sql/claim.sql',
    'examples/first-crawl.ts',
  ]) {
    assert.ok(files.includes(name), name);
  }
  assert.deepEqual(
    files.filter(
      (name) =>
        /^(src|tests|tools|bench|demo)\b/.test(name) ||
        (name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('examples/')),
    ),
    [],
  );
});

test('the installed binary tells its version', async () => {
  const ran = await runBinary(['--version'], { command: [bin], cwd: project, env });
  assertCode(ran, 0);
  assert.equal(ran.stdout, `gossamer ${VERSION}\n`);
});

test('the installed binary crawls', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    assertCode(await runBinary(stage.crawlWords(), { command: [bin], cwd: project, env }), 0);
    assertNoFault(stage.report());
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    const ran = await runBinary(['status', stage.dir, '--json'], { command: [bin], cwd: project, env });
    assert.equal((JSON.parse(ran.stdout) as { pages: number }).pages, stage.world.reachable().pages.size);
  }));

test('the installed library crawls', () =>
  onStage(plainPlan(4, 20), async (stage) => {
    const program = join(project, 'program.js');
    writeFileSync(
      program,
      `
      import { crawl } from 'gossamer';
      const run = await crawl(JSON.parse(process.argv[2]));
      const { reason, census } = await run.ended;
      console.log(reason, census.pages);
    `,
    );
    const options = {
      email: 'test@example.org',
      dir: stage.dir,
      seeds: stage.world.seeds(),
      connectTo: stage.served.connectTo,
      delayMs: 50,
      diskReserveBytes: 0,
    };
    const ran = await runBinary([program, JSON.stringify(options)], { command: [process.execPath], cwd: project, env });
    assertCode(ran, 0);
    assert.equal(ran.stdout, `finished ${stage.world.reachable().pages.size}\n`);
  }));

/** Runs a program of the project that installed the package, in that Node. */
const runProgram = (name: string, text: string, node = process.execPath): Promise<Ran> => {
  writeFileSync(join(project, name), text);
  return runBinary([join(project, name)], { command: [node], cwd: project, env });
};

/** A Node of this machine that is too old, if it has one. */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find(
    (node) => existsSync(node) && Number(/^v(\d+)/.exec(spawnSync(node, ['--version']).stdout.toString())?.[1]) < 24,
  );

test('the door of the package gives all that the library exports', async () => {
  const text =
    "import * as door from 'gossamer';\nimport * as all from './node_modules/gossamer/dist/index.js';\n" +
    'console.log(JSON.stringify([Object.keys(door), Object.keys(all)]));\n';
  const [door, all] = JSON.parse((await runProgram('door.js', text)).stdout) as [string[], string[]];
  assert.deepEqual(door.toSorted(), all.toSorted());
});

test('whoever requires the package, or has an old Node, is told in a sentence', async () => {
  const required = await runProgram('required.cjs', "require('gossamer');\n");
  assert.notEqual(required.code, 0);
  assert.match(required.stderr, /^Error: gossamer is an ES module and cannot be required: write "import /m);
  const imported = "import('gossamer').then(({ VERSION }) => console.log(VERSION));\n";
  assert.equal((await runProgram('imported.cjs', imported)).stdout, `${VERSION}\n`);
  if (oldNode === undefined) return;
  assert.match(
    (await runProgram('required.cjs', "require('gossamer');\n", oldNode)).stderr,
    /^Error: gossamer is an ES/m,
  );
  const old = await runProgram('old.mjs', "import 'gossamer';\n", oldNode);
  assert.match(
    old.stderr,
    /^Error: gossamer needs Node 24 or newer, and this is Node \d+\.[\d.]+: install a newer one$/m,
  );
});

test('its types are right for TypeScript 5.4, with those of libraries checked', async () => {
  const typed = join(home, 'typed');
  mkdirSync(typed);
  writeFileSync(join(typed, 'package.json'), '{ "private": true, "type": "module" }\n');
  const tarball = join(home, `gossamer-${VERSION}.tgz`);
  const packages = ['typescript@5.4', '@types/node@20', tarball];
  assertCode(await npm(typed, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages), 0);
  writeFileSync(
    join(typed, 'program.ts'),
    `import { crawl, openCrawl, UsageError, type Crawl } from 'gossamer';
    const run: Crawl = await crawl({ email: 'you@example.org', seeds: ['example.org'], maxPages: 100 });
    for await (const page of run.pages({ outcome: 'fetched' })) console.log(page.url, (await page.html()).length);
    const { reason } = await run.ended;
    const named: 'UsageError' = new UsageError(reason).name;
    console.log(named, await (await openCrawl(run.dir)).status());
    // @ts-expect-error: there is no such option
    await crawl({ email: 'you@example.org', maxPage: 1 });\n`,
  );
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck', 'false'];
  const tsc = join(typed, 'node_modules', 'typescript', 'bin', 'tsc');
  const ran = await runBinary([tsc, ...options, 'program.ts'], { command: [process.execPath], cwd: typed, env });
  assert.equal(ran.stdout, '');
  assertCode(ran, 0);
});
