/** The package as others get it: packed, installed in an empty project, and run without its sources. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/folder/version.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { runBinary, startBinary, type Ran } from '../support/binary.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

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
/** Settings for crawls of servers nearby. */
const QUICK = { delayMs: 50, timeoutMs: 60_000, diskReserveBytes: 0 };
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
  const packages = ['typescript@5.4', '@types/node@20', 'fastify@5', tarball];
  assertCode(await npm(typed, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages), 0);
  writeFileSync(
    join(typed, 'program.ts'),
    `import { crawl, openCrawl, UsageError, type Crawl } from 'gossamer';
    const run: Crawl = await crawl({ email: 'you@example.org', seeds: ['example.org'], maxPages: 100,
      signal: AbortSignal.timeout(1_000),
      onPage: async (page) => {
        const prices: (string | null)[] = (await page.select('.price')).map((price) => price.attr('title') ?? price.text);
        console.log(prices, await page.follow(await page.links()));
      },
    });
    run.on('end', ({ reason }) => console.log(reason)).once('log', (level, message) => console.log(level, message));
    // @ts-expect-error: there is no such event
    run.on('finish', () => {});
    const added: number = await run.add('example.com');
    console.log(added);
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
  // It is not among the sources that are checked with the others: fastify is no dependency of theirs.
  cpSync(join(installed, 'examples', 'fastify-service.ts'), join(typed, 'service.ts'));
  const lenient = [...options.slice(0, -2), '--skipLibCheck'];
  const checked = await runBinary([tsc, ...lenient, 'service.ts'], { command: [process.execPath], cwd: typed, env });
  assert.equal(checked.stdout, '');
});

/** Puts an example into the project, as a person does, and gives what runs it against servers of this machine. */
const exampleWords = (name: string, nearby: Readonly<Record<string, unknown>>): string[] => {
  cpSync(join(installed, 'examples', name), join(project, name));
  writeFileSync(
    join(project, 'nearby.mjs'),
    `import * as real from 'gossamer';
    export * from 'gossamer';
    export const crawl = (options) => real.crawl({ ...options, ...${JSON.stringify(nearby)} });\n`,
  );
  writeFileSync(
    join(project, 'preload.mjs'),
    `import { registerHooks } from 'node:module';
    const url = new URL('./nearby.mjs', import.meta.url).href;
    registerHooks({ resolve: (name, context, next) =>
      name === 'gossamer' && context.parentURL !== url ? { url, shortCircuit: true } : next(name, context) });\n`,
  );
  return ['--import', join(project, 'preload.mjs'), join(project, name)];
};
const runExample = (name: string, nearby: Readonly<Record<string, unknown>>): Promise<Ran> =>
  runBinary(exampleWords(name, nearby), { command: [process.execPath], cwd: project, env });

const SHOP: Readonly<Record<string, string>> = {
  '/': '<h1>Shop</h1><a href=/tea>Tea</a><ul data-more="/list?page=2"><li class=product><b class=name>Cup</b><p class=price>3 &euro;</ul>',
  '/tea': '<table class=product><tr><td class=name>Green tea<td class=price>4.50</table>',
  '/list?page=2':
    '<div class=product><span class=name>Pot</span></div><div class=product><i class=name>Jar</i><i class=price>7',
};

test('the example shop-prices finds the prices of a shop, also where its HTML is broken', async () => {
  const server = createServer(({ url }, response) => {
    const body = SHOP[url ?? ''];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const nearby = { seeds: ['http://shop.example/'], connectTo: [`*:80:127.0.0.1:${port}`], ...QUICK };
    const ran = await runExample('shop-prices.ts', nearby);
    assertCode(ran, 0);
    assert.deepEqual([ran.stdout, ran.stderr], ['finished: 3 prices are in prices.jsonl\n', '']);
    const rows = readFileSync(join(project, 'prices.jsonl'), 'utf8').trimEnd().split('\n').toSorted();
    assert.deepEqual(rows, [
      '{"url":"http://shop.example/","name":"Cup","price":"3 €"}',
      '{"url":"http://shop.example/list?page=2","name":"Jar","price":"7"}',
      '{"url":"http://shop.example/tea","name":"Green tea","price":"4.50"}',
    ]);
  } finally {
    server.close();
  }
});

test('the example two-crawls runs both to their ends', () =>
  onStage(plainPlan(4, 40), async (stage) => {
    const ran = await runExample('two-crawls.ts', {
      seeds: stage.world.seeds(),
      connectTo: stage.served.connectTo,
      ...QUICK,
    });
    assertCode(ran, 0);
    assert.match(ran.stdout, /^\.\/broad finished: \d+ pages\n\.\/deep finished: \d+ pages\n$/);
  }));

test('the example fastify-service starts crawls, tells how they are, and ends them in order', () =>
  onStage(plainPlan(4, 40), async (stage) => {
    assertCode(await npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', 'fastify@5'), 0);
    const nearby = { connectTo: stage.served.connectTo, ...QUICK };
    const service = startBinary(exampleWords('fastify-service.ts', nearby), {
      command: [process.execPath],
      cwd: project,
      env: { ...env, PORT: '0' },
    });
    await until('the service listens', () => /http:\S+/.test(service.said()));
    const at = `${/http:\S+/.exec(service.said())![0]}/crawls/news`;
    const post = (seeds: unknown): Promise<Response> =>
      fetch(at, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ seeds }) });
    const refused = await post('example.org');
    assert.deepEqual(
      [refused.status, /^seeds /.test(((await refused.json()) as { error: string }).error)],
      [400, true],
    );
    assert.equal((await fetch(at)).status, 404);
    assert.equal((await post(stage.world.seeds())).status, 201);
    const { size } = stage.world.reachable().pages;
    await until('the crawl has ended', async () => {
      const { phase, pages } = (await (await fetch(at)).json()) as { phase: string; pages: number };
      return phase === 'ended' && pages === size;
    });
    assert.deepEqual(await (await fetch(at, { method: 'DELETE' })).json(), { reason: 'finished' });
    service.send('SIGTERM');
    assert.deepEqual([(await service.ended).code, (await service.ended).stderr], [0, '']);
  }));
