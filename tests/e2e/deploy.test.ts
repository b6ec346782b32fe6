/**
 * What deploy/ sets up, in real programs: a crawl that is begun and resumed, its Redis, and a Prometheus that watches
 * it.
 */

import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { tinyPlan } from '../../src/world/presets.ts';
import { endBinaries, runBinary, startBinary, type Ran } from '../support/binary.ts';
import { dashboards, DEPLOY, expressionsOf, filledIn } from '../support/dashboards.ts';
import { freePort } from '../support/free-port.ts';
import { promtool, startPrometheus, type Prometheus } from '../support/prometheus.ts';
import { redisProgram, startRedis } from '../support/redis-server.ts';
import { binOf } from '../support/shells.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

const textOf = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

after(endBinaries);

test('gossamer-start begins a crawl, goes on with it when it is started again, and says how it is used', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const env = { ...process.env, PATH: [binOf(stage.home), process.env.PATH].join(delimiter) };
    const start = (...words: readonly string[]): Promise<Ran> =>
      runBinary(words, { command: [join(DEPLOY, 'gossamer-start')], cwd: stage.home, env });
    const config = join(stage.home, 'news.yaml');
    const written = {
      seeds: 'seeds.txt',
      delay: '50ms',
      'disk-reserve': '10MiB',
      'connect-to': stage.served.connectTo,
      'max-pages': 5,
    };
    writeFileSync(config, JSON.stringify(written));

    assertCode(await start(stage.dir, config, '--email', 'test@example.org'), 0);
    const begun = await stage.status();
    assert.ok(begun.pages >= 5 && begun.waiting > 0, JSON.stringify(begun));
    // A change of the file holds from the next start on.
    writeFileSync(config, JSON.stringify({ ...written, 'max-pages': null }));
    assertCode(await start(stage.dir, config, '--email', 'test@example.org'), 0);
    assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
    assertNoFault(stage.report());

    const alone = await start(stage.dir);
    assertCode(alone, 2);
    assert.match(alone.stderr, /^usage: gossamer-start DIR CONFIG/);
  }));

test('gossamer-start joins a crawl that another machine began, without a configuration, and goes on with it', async () => {
  const server = await startRedis({ appendonly: 'yes' });
  try {
    await onStage(plainPlan(6, 60, 20), async (stage) => {
      const env = {
        ...process.env,
        PATH: [binOf(stage.home), process.env.PATH].join(delimiter),
        GOSSAMER_STORE: server.url,
      };
      const start = (words: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ran> =>
        runBinary(words, { command: [join(DEPLOY, 'gossamer-start')], cwd: stage.home, env: { ...env, ...more } });
      const config = join(stage.home, 'news.yaml');
      const written = { seeds: 'seeds.txt', delay: '50ms', 'connect-to': stage.served.connectTo, 'max-pages': 5 };
      writeFileSync(config, JSON.stringify({ ...written, 'disk-reserve': '10MiB', name: 'news' }));
      const second = join(stage.home, 'second', 'news'); // the name of the crawl is that of the directory
      const joining = [second, join(stage.home, 'nowhere.yaml'), '--disk-reserve', '10MiB'];
      const early = await start(joining, { GOSSAMER_START_JOIN: 'yes' });
      assertCode(early, 2);
      assert.match(early.stderr, /has no crawl "news": start it by "gossamer crawl"/);

      assertCode(await start([stage.dir, config, '--email', 'test@example.org']), 0);
      const begun = await stage.status();
      assert.ok(begun.waiting > 0, JSON.stringify(begun));
      assertCode(await start(joining, { GOSSAMER_START_JOIN: 'yes' }), 0);
      assert.equal(existsSync(join(second, 'crawl.json')), true);
      writeFileSync(config, JSON.stringify({ ...written, 'disk-reserve': '10MiB', name: 'news', 'max-pages': null }));
      assertCode(await start([stage.dir, config, '--email', 'test@example.org']), 0);
      assertCode(await start(joining, { GOSSAMER_START_JOIN: 'yes' }), 0);
      assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
      assertNoFault(stage.report());
    });
  } finally {
    await server.remove();
  }
});

test('gossamer-start ends with 0 where a code is said to be an end, passes on signals, and all other codes', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-start-'));
  const bin = join(home, 'bin');
  mkdirSync(bin);
  // Ends with the code of its last word; `wait` waits for a signal, and ends with 3 as a crawl does.
  const script = `#!/bin/sh
for last in "$@"; do :; done
[ "$last" = wait ] || exit "$last"
trap 'echo stopped; exit 3' TERM
touch "${home}/waits"
while :; do sleep 0.1; done
`;
  writeFileSync(join(bin, 'gossamer'), script, { mode: 0o755 });
  const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter), GOSSAMER_START_ENDS: '5' };
  const words = (last: string): string[] => [join(home, 'crawl'), join(home, 'crawl.yaml'), last];
  const options = { command: [join(DEPLOY, 'gossamer-start')], cwd: home };
  try {
    for (const [code, ends] of [
      [0, 0],
      [5, 0],
      [1, 1],
      [4, 4],
    ] as const)
      assertCode(await runBinary(words(String(code)), { ...options, env }), ends);
    assertCode(await runBinary(words('5'), { ...options, env: { ...env, GOSSAMER_START_ENDS: '' } }), 5);
    const run = startBinary(words('wait'), { ...options, env });
    await until('it waits', () => existsSync(join(home, 'waits')));
    run.send('SIGTERM');
    const ran = await run.ended;
    assertCode(ran, 3);
    assert.equal(ran.stdout, 'stopped\n');
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('gossamer understands the configuration that the compose file gives it', async () => {
  const ran = await runBinary(['config', '--config', join(DEPLOY, 'gossamer/crawl.yaml'), '--json']);
  assertCode(ran, 0);
  const config = JSON.parse(ran.stdout) as Record<string, { value: unknown; from: string }>;
  assert.deepEqual([config.seeds?.from, config.name?.value], ['file', 'crawl']);
});

test('the Redis of the compose file asks for the password, keeps what it was given when it is stopped, and refuses rather than forgets', async () => {
  const { command, volumes } = (
    parse(textOf('compose.yaml')) as { services: { redis: { command: string[]; volumes: string[] } } }
  ).services.redis;
  const [from, to] = volumes.find((volume) => volume.startsWith('./'))!.split(':') as [string, string];
  const home = mkdtempSync(join(tmpdir(), 'gossamer-deploy-'));
  const port = await freePort();
  const { program, env } = redisProgram();
  // The command as it is; only the port and the place of its file are those of this test. It ends with whoever started
  // it: a shell that did not become the server would leave it behind.
  writeFileSync(
    join(home, 'redis-server'),
    `#!/bin/sh\nconfig=$1\nshift\nexec setpriv --pdeathsig KILL -- '${program}' "$config" --port ${port} --bind 127.0.0.1 "$@"\n`,
  );
  chmodSync(join(home, 'redis-server'), 0o755);
  const words = command.map((word) => word.replaceAll('$$', '$').replaceAll(to, join(DEPLOY, from)));
  const start = (): ReturnType<typeof startBinary> =>
    startBinary([], {
      command: words,
      cwd: home,
      env: { ...env, PATH: [home, process.env.PATH].join(delimiter), REDISCLI_AUTH: 'only-for-this-test' },
    });
  const connected = async <T>(password: string | undefined, work: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      ...(password ? { password } : {}),
    });
    redis.on('error', () => {});
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  };
  const isUp = (): Promise<boolean> =>
    connected('only-for-this-test', (redis) =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    );
  try {
    let server = start();
    await until('Redis answers', isUp);
    await assert.rejects(
      connected(undefined, (redis) => redis.get('kept')),
      /NOAUTH/,
    );
    await connected('only-for-this-test', async (redis) => {
      assert.deepEqual(await redis.config('GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
      await redis.set('kept', 'yes');
    });
    server.send('SIGTERM');
    assertCode(await server.ended, 0);
    server = start();
    await until('Redis answers again', isUp);
    assert.equal(await connected('only-for-this-test', (redis) => redis.get('kept')), 'yes');
    server.send('SIGTERM');
    await server.ended;
  } finally {
    endBinaries();
    rmSync(home, { recursive: true, force: true });
  }
});

/** As deploy/ has it, but quicker, and asking this crawler. */
const watch = (home: string, address: string): Promise<Prometheus> => {
  const dir = join(home, 'prometheus');
  mkdirSync(dir);
  writeFileSync(
    join(dir, 'prometheus.yml'),
    textOf('prometheus/prometheus.yml').replace(/_interval: \d+s/g, '_interval: 500ms'),
  );
  copyFileSync(join(DEPLOY, 'prometheus/alerts.yml'), join(dir, 'alerts.yml'));
  writeFileSync(join(dir, 'targets.yml'), textOf('prometheus/targets.yml').replace('127.0.0.1:9464', address));
  return startPrometheus(dir);
};

interface RuleStates {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
  }[];
}

test('promtool finds nothing to say about the metrics of a running crawl, and a Prometheus that asks for them answers every query of the dashboards', () =>
  // The crawl outlasts all that is looked at, also on a slow machine.
  onStage({ ...tinyPlan, pages: 6_000, sitePagesMax: 1_000 }, async (stage) => {
    const crawl = stage.startCrawl({ delay: '300ms', metrics: '0' });
    await until('the crawl says where its metrics are', () => {
      if (crawl.isOver()) throw new Error(crawl.said());
      return /metrics at http/.test(crawl.said());
    });
    const url = /metrics at (http:\S+)/.exec(crawl.said())![1]!;
    const prometheus = await watch(stage.home, new URL(url).host);
    try {
      // A rate needs two looks at the crawler.
      await until(
        'Prometheus knows of pages',
        async () => Number((await prometheus.ask('sum(increase(gossamer_pages_total[1m]))'))[0]?.value[1] ?? 0) > 0,
      );
      const text = await (await fetch(url, { headers: { connection: 'close' } })).text();
      assert.equal(promtool(['check', 'metrics'], text), '');

      for (const [file, board] of dashboards()) {
        for (const { where, expression } of expressionsOf(file, board)) {
          const isAnswered = async (): Promise<boolean> =>
            (await prometheus.ask(filledIn(expression))).length > 0 || expression.endsWith('> 0');
          await until(`the query ${where} has an answer: ${expression}`, isAnswered);
        }
      }

      const rules = async (): Promise<RuleStates['groups'][number]['rules']> =>
        (await prometheus.get<RuleStates>('rules')).groups.flatMap((group) => group.rules);
      await until('every alert was looked at', async () => (await rules()).every(({ health }) => health !== 'unknown'));
      assert.deepEqual(
        (await rules()).filter(({ health }) => health !== 'ok'),
        [],
      );
      crawl.send('SIGTERM');
      assertCode(await crawl.ended, 3);
    } finally {
      await prometheus.close();
    }
  }));
