/** Credentials reach exactly their origin, and nothing that is on disk afterwards, nor what is said, has them. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBinary, startBinary, type Ran } from '../support/binary.ts';
import {
  filesWithSecrets,
  isRight,
  NEEDLES,
  ORIGIN,
  PASSWORD,
  serveSecretSite,
  TOKEN,
} from '../support/secret-site.ts';
import type { SecretSite } from '../support/secret-site.ts';
import { startRedis } from '../support/redis-server.ts';
import { assertCode, flagWords, type Flags } from '../support/stage.ts';
import { until } from '../support/until.ts';

interface Scene {
  readonly home: string;
  readonly dir: string;
  readonly site: SecretSite;
  /** What is typed to crawl the site, without credentials. */
  words(flags?: Flags): string[];
  run(words: readonly string[]): Promise<Ran>;
}

const WARNING = /the crawl was run with credentials, and none are given now/;

const onScene = async (pages: number, story: (scene: Scene) => Promise<void>): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-secret-'));
  const site = await serveSecretSite(home, pages);
  const dir = join(home, 'crawl');
  const always = { email: 'me@example.org', delay: '1ms', 'disk-reserve': '10MiB', 'connect-to': site.connectTo };
  try {
    await story({
      home,
      dir,
      site,
      words: (flags) => ['crawl', '--dir', dir, '--url', `${ORIGIN}/`, ...flagWords({ ...always, ...flags })],
      run: (words) => runBinary(words, { cwd: home, env: site.env }),
    });
  } finally {
    await site.close();
    rmSync(home, { recursive: true });
  }
};

const assertSilent = ({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): void => {
  for (const needle of NEEDLES) assert.ok(!`${stdout}${stderr}`.includes(needle));
};

test('credentials go to the pages of their origin, not along a redirect, over http or to robots.txt', () =>
  onScene(4, async ({ dir, site, words, run }) => {
    const ran = await run(words({ credentials: site.credentials, 'log-level': 'debug', 'keep-links': true }));
    assertCode(ran, 0);
    assert.deepEqual(
      site.asked.filter((one) => !isRight(one)),
      [],
    );
    const urls = new Set(site.asked.map(({ url }) => url));
    for (const url of [`${ORIGIN}/1`, `${ORIGIN}/moved`, `${ORIGIN}/robots.txt`, 'http://intern.example/plain'])
      assert.ok(urls.has(url), url);
    assert.ok(urls.has('https://other.example/there') && urls.has('https://other.example/linked'));
    assertSilent(ran);
    assert.deepEqual(filesWithSecrets(dir), []);
    assert.match(ran.stderr, /settled fetched 200 https:\/\/intern\.example\/1/);
    const shown = await run(['show', dir, `${ORIGIN}/1`, '--headers']);
    assertCode(shown, 0);
    assert.match(shown.stdout, /^GET \/1 HTTP\/1\.1\r?\n/m);
    assert.doesNotMatch(shown.stdout, /^(authorization|x-api-key)/im);
    for (const words of [
      ['verify', dir],
      ['audit', dir],
    ])
      assertCode(await run(words), 0);
  }));

test('nothing on disk has credentials after a kill, and a resume without them says so and goes on', () =>
  onScene(60, async ({ dir, site, words, run, home }) => {
    const running = startBinary(words({ credentials: site.credentials, 'log-level': 'debug' }), {
      cwd: home,
      env: site.env,
    });
    await until('some pages are fetched', () => site.asked.length > 12 || running.isOver());
    running.send('SIGKILL');
    assertSilent(await running.ended);
    assert.deepEqual(filesWithSecrets(dir), []);
    const kept = JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as { credentialed?: boolean };
    assert.equal(kept.credentialed, true);

    const without = await run(['resume', dir, '--max-pages', '30']);
    assertCode(without, 0);
    assert.match(without.stderr, WARNING);
    assert.deepEqual(site.asked.at(-1)!.secrets, [undefined, undefined]);

    const before = site.asked.length;
    const again = await run(['resume', dir, '--max-pages', 'none', '--credentials', site.credentials]);
    assertCode(again, 0);
    assert.doesNotMatch(again.stderr, WARNING);
    assert.ok(site.asked.length > before);
    assert.deepEqual(
      site.asked.slice(before).filter((one) => !isRight(one)),
      [],
    );
    assert.deepEqual(filesWithSecrets(dir), []);
  }));

test('without a certificate that can be verified nothing is sent to an origin with credentials', () =>
  onScene(2, async ({ site, words, home }) => {
    const { NODE_EXTRA_CA_CERTS: _, ...env } = site.env;
    const flags = { credentials: site.credentials, 'trouble-delay': '10ms', 'park-after': 1 };
    const ran = await runBinary(words(flags), { cwd: home, env });
    assertCode(ran, 5); // its seed could not be reached
    assert.match(ran.stdout, /or --verify-tls or --credentials refused the certificate/);
    assert.deepEqual(site.asked, []);
  }));

test('a program gives credentials among its options, and they are not on disk either', () =>
  onScene(3, async ({ dir, site, home }) => {
    const options = {
      email: 'me@example.org',
      dir,
      seeds: [`${ORIGIN}/`],
      delayMs: 1,
      diskReserveBytes: 0,
      connectTo: site.connectTo,
    };
    const program = `
      import { crawl } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
      const options = ${JSON.stringify(options)};
      const login = { basic: 'me:${PASSWORD}', header: 'X-Api-Key: ${TOKEN}' };
      const run = await crawl({ ...options, credentials: { '${ORIGIN}': login } });
      console.log((await run.ended).reason);
      console.error(run.metrics(), JSON.stringify(run.status()));
      const again = await crawl({ ...options, onLog: (level, message) => console.log(level, message) });
      await again.ended;
    `;
    const path = join(home, 'program.ts');
    writeFileSync(path, program);
    const ran = await runBinary([path], { cwd: home, env: site.env, command: [process.execPath] });
    assertCode(ran, 0);
    assert.match(ran.stderr, /^gossamer_requests_total/m);
    assertSilent(ran);
    assert.match(ran.stdout, /^finished\nwarn the crawl was run with credentials, and none are given now/);
    assert.deepEqual(
      site.asked.filter((one) => !isRight(one)),
      [],
    );
    assert.deepEqual(filesWithSecrets(dir), []);
  }));

test('each member of a shared crawl is given credentials of its own, and the store has none', async () => {
  const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
  try {
    await onScene(12, async ({ dir, site, words, run, home }) => {
      const store = server.url;
      const shared = { credentials: site.credentials, store, name: 'secret' };
      assertCode(await run(words({ ...shared, 'max-pages': 3 })), 0);
      const second = join(home, 'second');
      const more = (pages: number): Promise<Ran> =>
        run(['set', ...flagWords({ store, name: 'secret', 'max-pages': pages })]);
      assertCode(await more(8), 0);
      const joined = ['join', second, ...flagWords(shared)];
      const ran = await run(joined);
      assertCode(ran, 0);
      assert.doesNotMatch(ran.stderr, WARNING);
      assert.deepEqual(
        site.asked.filter((one) => !isRight(one)),
        [],
      );
      assertCode(await more(9), 0);
      const third = await run(['join', join(home, 'third'), ...flagWords({ store, name: 'secret' })]);
      assertCode(third, 0);
      assert.match(third.stderr, WARNING);
      for (const place of [dir, second, join(home, 'third'), server.dir]) assert.deepEqual(filesWithSecrets(place), []);
    });
  } finally {
    await server.remove();
  }
});
