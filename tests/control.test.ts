/** How another process hands something to the one that has a crawl open. */

import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { askProcess } from '../src/folder/control-client.ts';
import { UsageError } from '../src/model/read-settings.ts';
import { serveControl, type ControlParts } from '../src/run/control.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-control-'));
after(() => rmSync(home, { recursive: true }));

let dirs = 0;
const newDir = (name = `crawl-${++dirs}`): string => {
  const dir = join(home, name);
  mkdirSync(dir, { recursive: true });
  return dir;
};

const withServer = async (
  parts: Partial<ControlParts>,
  story: (dir: string, warned: readonly string[]) => Promise<void>,
): Promise<void> => {
  const dir = parts.dir ?? newDir();
  const warned: string[] = [];
  const close = await serveControl({
    dir,
    controls: { echo: async (request) => ({ got: request }) },
    log: (_, message) => void warned.push(message),
    ...parts,
  });
  try {
    await story(dir, warned);
  } finally {
    await close();
  }
};

/** Sends these bytes, and gives all that is said until the other end closes. */
const sent = (dir: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(join(dir, 'control.sock'), () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    socket.on('end', () => resolve(said));
    socket.on('close', () => resolve(said));
    socket.on('error', reject);
  });

test('a request gets one answer, and the socket is for its user alone and gone at the end', async () => {
  let dir = '';
  await withServer({}, async (made) => {
    dir = made;
    assert.equal(statSync(join(dir, 'control.sock')).mode & 0o777, 0o600);
    assert.deepEqual(await askProcess(dir, { kind: 'echo', a: 'ä\n' }), { got: { kind: 'echo', a: 'ä\n' } });
    const long = 'x'.repeat(1_000_000);
    assert.deepEqual(await askProcess(dir, { kind: 'echo', long }), { got: { kind: 'echo', long } });
  });
  assert.equal(existsSync(join(dir, 'control.sock')), false);
  assert.equal(await askProcess(dir, { kind: 'echo' }), null, 'nobody listens');
});

test('a socket that a killed process left is replaced', async () => {
  const dir = newDir();
  writeFileSync(join(dir, 'control.sock'), '');
  assert.equal(await askProcess(dir, { kind: 'echo' }), null);
  await withServer({ dir }, async () => {
    assert.deepEqual(await askProcess(dir, { kind: 'echo' }), { got: { kind: 'echo' } });
  });
});

test('a directory may lie deeper than a socket can be named', async () => {
  const dir = newDir(Array.from({ length: 12 }, (_, i) => `a-rather-long-name-${i}`).join('/'));
  await withServer({ dir }, async (_, warned) => {
    assert.deepEqual(warned, []);
    assert.ok(existsSync(join(dir, 'control.sock')));
    assert.deepEqual(await askProcess(dir, { kind: 'echo' }), { got: { kind: 'echo' } });
    assert.equal(await askProcess(newDir(`${'b'.repeat(120)}/c`), { kind: 'echo' }), null);
  });
  assert.equal(existsSync(join(dir, 'control.sock')), false);
  const links = globSync(join(tmpdir(), 'gossamer-socket-*', 'd')).filter((link) => readlinkSync(link) === dir);
  assert.deepEqual(links, [], 'nothing is left beside it');
});

test('what is wrong is told in a sentence, and what is refused as a wrong use', () =>
  withServer(
    {
      silenceMs: 100,
      controls: {
        refuse: () => Promise.reject(new UsageError('--delay is too long')),
        fail: () => Promise.reject(new Error('the disk is gone')),
      },
    },
    async (dir) => {
      await assert.rejects(askProcess(dir, { kind: 'refuse' }), { name: 'UsageError', message: '--delay is too long' });
      await assert.rejects(askProcess(dir, { kind: 'fail' }), { message: 'the disk is gone', advice: /log/ });
      await assert.rejects(askProcess(dir, { kind: 'toString' }), /does not know "toString"/);
      for (const line of ['', '{', '[]', 'null', '{"kind":7}'])
        assert.match(
          await sent(dir, `${line}\n{"kind":`).then((said) => said.split('\n')[0]!),
          /one line of JSON/,
          line,
        );
    },
  ));

test('a client that says too much or nothing is left', () =>
  withServer({ silenceMs: 50, requestBytesMax: 1_000 }, async (dir) => {
    assert.match(await sent(dir, '{"kind":"echo"'), /nothing was asked for 0\.05s/);
    assert.match(await sent(dir, 'x'.repeat(5_000)), /at most 1000 bytes/);
  }));

test('requests of one client are answered in order, and a client that goes away harms nobody', () =>
  withServer({ silenceMs: 100 }, async (dir) => {
    const said = await sent(dir, '{"kind":"echo","n":1}\n{"kind":"echo","n":2}\n');
    assert.deepEqual(said.match(/"n":\d/g), ['"n":1', '"n":2']);
    for (let i = 0; i < 20; i++)
      connect(join(dir, 'control.sock'))
        .on('error', () => {})
        .destroy();
    assert.deepEqual(await askProcess(dir, { kind: 'echo' }), { got: { kind: 'echo' } });
  }));
