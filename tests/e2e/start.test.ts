/** What is typed to start a crawl: URLs, domains, files and pipes in any mixture, and who it is that asks. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Settings } from '../../src/model/settings.ts';
import { GOSSAMER, runBinary, type Ran } from '../support/binary.ts';
import { assertCode, flagWords, onStage, plainPlan, type Stage } from '../support/stage.ts';

/** Enough for a crawl of this small web, but for seeds and a contact. */
const quick = ({ served }: Stage): string[] =>
  flagWords({
    delay: '50ms',
    timeout: '60s',
    'trouble-delay': '50ms',
    'park-after': 1,
    'disk-reserve': '10MiB',
    'max-depth': 0,
    'connect-to': served.connectTo,
  });

/** A URL of each site. */
const urlsOf = ({ world }: Stage): string[] => world.sites.map(({ hosts }) => `http://${hosts[0]}/`);

const EMAIL = ['--email', 'test@example.org'];

const seedsIn = (stage: Stage): string[] =>
  readFileSync(join(stage.dir, 'seeds.txt'), 'utf8').trimEnd().split('\n').toSorted();

const storedIn = (stage: Stage): Settings =>
  (JSON.parse(readFileSync(join(stage.dir, 'crawl.json'), 'utf8')) as { settings: Settings }).settings;

/** As a shell runs it. */
const inShell = async (stage: Stage, script: string, words: readonly string[], stdin?: string): Promise<Ran> => {
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, GOSSAMER, ...words], { cwd: stage.home });
  child.stdin.end(stdin ?? '');
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, signal: null, stdout, stderr };
};

test('a URL alone is a seed, and starts a crawl', () =>
  onStage(plainPlan(2, 4), async (stage) => {
    const [url] = urlsOf(stage);
    assertCode(await stage.gossamer('crawl', url!, ...EMAIL, ...quick(stage)), 0);
    assert.deepEqual(seedsIn(stage), [url]);
    assert.equal((await stage.status()).pages, 1);
  }));

test('URLs, domains, files and --url can be mixed', () =>
  onStage(plainPlan(4, 8), async (stage) => {
    const [first, second, third, fourth] = urlsOf(stage);
    writeFileSync(join(stage.home, 'some.txt'), `# some\n${first}\n`);
    writeFileSync(join(stage.home, 'more'), `${second}\n`);
    const long = `example.org?q=${'x'.repeat(300)}`; // longer than the name of a file can be
    const words = ['some.txt', third!, long, 'more', '--url', fourth!];
    assertCode(await stage.gossamer('crawl', ...words, ...EMAIL, ...quick(stage), '--max-pages', '1'), 0);
    assert.deepEqual(seedsIn(stage), [first!, second!, third!, fourth!, long].toSorted());
  }));

test('a file that has the name of a domain is a file, and a line says how to name the domain', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    const [url] = urlsOf(stage);
    writeFileSync(join(stage.home, 'example.org'), `${url}\n`);
    writeFileSync(join(stage.home, 'seeds.txt'), `${url}\n`);
    const ran = await stage.gossamer('crawl', 'example.org', 'seeds.txt', ...EMAIL, ...quick(stage));
    assertCode(ran, 0);
    assert.equal(
      ran.stderr,
      '"example.org" is a file here and read as one; write https://example.org/ for the domain\n',
    );
    assert.deepEqual(seedsIn(stage), [url, url]);
  }));

test('a folder that has the name of a domain does not stand in its way', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    mkdirSync(join(stage.home, 'example.org'));
    const [url] = urlsOf(stage);
    assertCode(await stage.gossamer('crawl', 'example.org', url!, ...EMAIL, ...quick(stage), '--max-pages', '1'), 0);
    assert.deepEqual(seedsIn(stage), ['example.org', url!].toSorted());
  }));

test('seeds come from a pipe, a FIFO, or standard input, which is read once', () =>
  onStage(plainPlan(3, 6), async (stage) => {
    const [first, second, third] = urlsOf(stage);
    const words = [...EMAIL, ...quick(stage)];
    const script = [
      `mkfifo pipe; { echo ${second} > pipe; } >/dev/null 2>&1 &`,
      `"$1" "$2" crawl <(echo ${first}) pipe - "\${@:3}"; code=$?`,
      'kill $! 2>/dev/null; exit $code', // the writer, where nobody read the pipe
    ].join('\n');
    const ran = await inShell(stage, script, words, `${third}\nftp://one.example/\n`);
    assertCode(ran, 0);
    assert.deepEqual(seedsIn(stage), [first!, second!, third!].toSorted());
    assert.match(ran.stderr, /^standard input line 2: "ftp:\/\/one\.example\/" is not usable: .*; skipped$/m);
    assert.equal((await stage.status()).pages, 3);
  }));

test('a resume takes more seeds from standard input, too', () =>
  onStage(plainPlan(2, 4), async (stage) => {
    const [first, second] = urlsOf(stage);
    assertCode(await stage.gossamer('crawl', first!, ...EMAIL, ...quick(stage)), 0);
    assertCode(await inShell(stage, '"${@}" --seeds -', ['resume', stage.dir], `${second}\n`), 0);
    assert.deepEqual(seedsIn(stage), [first!, second!].toSorted());
    assert.equal((await stage.status()).pages, 2);
    const none = await inShell(stage, '"${@}" --seeds -', ['resume', stage.dir], '# none\n');
    assertCode(none, 2);
    assert.match(none.stderr, /^gossamer: there is no good seed in standard input: /);
    assert.deepEqual(seedsIn(stage), [first!, second!].toSorted());
    assert.equal(existsSync(join(stage.dir, 'seeds.txt.new')), false);
  }));

test('a pipe without a good seed leaves nothing behind, and nobody who forgot it is left alone', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    const words = ['crawl', ...EMAIL, '--disk-reserve', '10MiB'];
    const none = await inShell(stage, '"${@}" - --dir a/b/c', words, 'not a seed\n');
    assertCode(none, 2);
    assert.match(none.stderr, /there is no good seed in standard input/);
    assert.equal(existsSync(join(stage.home, 'a')), false);
    mkdirSync(join(stage.home, 'empty'));
    assertCode(await inShell(stage, '"${@}" - --dir empty/c', words, 'not a seed\n'), 2);
    assert.equal(existsSync(join(stage.home, 'empty')), true);
    assert.equal(existsSync(join(stage.home, 'empty', 'c')), false);
    const forgotten = await inShell(stage, '"${@}"', words, 'https://example.org/\n');
    assertCode(forgotten, 2);
    assert.match(forgotten.stderr, /seeds are missing: .*; to read those of standard input, write "-"/);
  }));

test('the sentence that asks for a contact has the whole command in it, ready to be pasted', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const bare = await stage.gossamer('crawl', 'https://example.org/?a=1&b=2', '--max-pages', '5');
    assertCode(bare, 2);
    assert.equal(
      bare.stderr,
      'gossamer: --email is missing: give an address where a site owner reaches you, here or in GOSSAMER_EMAIL: ' +
        "gossamer crawl 'https://example.org/?a=1&b=2' --max-pages 5 --email you@example.org\n",
    );
    const rest = await stage.gossamer('crawl', '--store', 'redis://me:secret@127.0.0.1:1', '--', 'example.org');
    assertCode(rest, 2);
    assert.match(
      rest.stderr,
      /: gossamer crawl --store redis:\/\/me@127\.0\.0\.1:1 --email you@example\.org -- example\.org$/m,
    );
  }));

test('the contact is found in a flag, in --config, in GOSSAMER_EMAIL or in the file of the user, in this order', () =>
  onStage(plainPlan(1, 2), async (stage) => {
    const folder = join(stage.home, 'settings', 'gossamer');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.yaml'), 'email: user@example.org\nkeep: text\ndelay: 2\n');
    writeFileSync(join(stage.home, 'crawl.yaml'), 'email: file@example.org\n');
    const env = { ...process.env, XDG_CONFIG_HOME: join(stage.home, 'settings') };
    const emailOf = async (more: readonly string[], environment: NodeJS.ProcessEnv): Promise<unknown> => {
      const ran = await runBinary(['config', '--json', ...more], { cwd: stage.home, env: environment });
      assertCode(ran, 0);
      const { email, keep } = JSON.parse(ran.stdout) as Record<string, { value: unknown; from: string }>;
      assert.deepEqual(keep, { value: 'text', from: 'user' });
      return [email?.value, email?.from];
    };
    const named = { ...env, GOSSAMER_EMAIL: 'environment@example.org' };
    assert.deepEqual(await emailOf([], env), ['user@example.org', 'user']);
    assert.deepEqual(await emailOf([], named), ['environment@example.org', 'environment']);
    assert.deepEqual(await emailOf(['--config', 'crawl.yaml'], named), ['file@example.org', 'file']);
    assert.deepEqual(await emailOf(['--config', 'crawl.yaml', ...EMAIL], named), ['test@example.org', 'flag']);

    const options = { cwd: stage.home, env: named };
    assertCode(await runBinary(['crawl', ...stage.world.seeds(), ...quick(stage)], options), 0);
    assert.deepEqual([storedIn(stage).email, storedIn(stage).keep], ['environment@example.org', 'text']);

    // A resume has its settings in the crawl: neither the environment nor the file of the user changes them.
    writeFileSync(join(folder, 'config.yaml'), 'keep: none\nno-such: 1\n');
    const other = { ...env, GOSSAMER_EMAIL: 'other@example.org' };
    assertCode(await runBinary(['resume', stage.dir], { cwd: stage.home, env: other }), 0);
    assert.deepEqual([storedIn(stage).email, storedIn(stage).keep], ['environment@example.org', 'text']);
    const known = await runBinary(['config', stage.dir, '--json'], { cwd: stage.home, env: other });
    assertCode(known, 0);
    assert.deepEqual((JSON.parse(known.stdout) as Record<string, unknown>).email, {
      value: 'environment@example.org',
      from: 'crawl',
    });
  }));

test('a mistake in the file of the user, or in GOSSAMER_EMAIL, is a sentence with its place', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const folder = join(stage.home, '.config', 'gossamer');
    mkdirSync(folder, { recursive: true });
    const { XDG_CONFIG_HOME: _, ...plain } = process.env;
    // XDG: a path that is not absolute is to be ignored.
    const env = { ...plain, HOME: stage.home, XDG_CONFIG_HOME: 'elsewhere' };
    const saidOf = async (content: string, more: NodeJS.ProcessEnv = {}): Promise<string> => {
      writeFileSync(join(folder, 'config.yaml'), content);
      const ran = await runBinary(['crawl', 'example.org'], { cwd: stage.home, env: { ...env, ...more } });
      assertCode(ran, 2);
      assert.equal(existsSync(stage.dir), false);
      return ran.stderr;
    };
    assert.match(await saidOf('\ndelai: 5\n'), /gossamer\/config\.yaml line 2 column 1: there is no setting "delai"/);
    for (const name of ['seeds', 'dir', 'exclude-file']) {
      assert.match(
        await saidOf(`${name}: x\n`),
        /gossamer\/config\.yaml line 1 column 1: \S+ belongs to one crawl: give it on the command line, or in a --config file/,
      );
    }
    assert.match(
      await saidOf('delay: 5\n', { GOSSAMER_EMAIL: 'me' }),
      /^gossamer: GOSSAMER_EMAIL "me" is not an e-mail address/,
    );
  }));
