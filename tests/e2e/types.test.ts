/** What is archived, with the real binary: the server counts what it could send. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { archivedIn } from '../support/archive-check.ts';
import { endBinaries, runBinary, type Ran } from '../support/binary.ts';
import { assertCode, flagWords, type Flags, type ListedPage } from '../support/stage.ts';

/** Far more than the buffers of two sockets hold, so that a body which nobody reads cannot be sent whole. */
const FILE_BYTES = 24 * 1024 * 1024;
const SMALL_BYTES = 5_000;

/** Paths with what they answer; a large one is sent piece by piece. */
const FILES: Readonly<Record<string, readonly [type: string, bytes: number]>> = {
  '/paper.pdf': ['application/pdf', SMALL_BYTES],
  '/papers/7': ['application/pdf', SMALL_BYTES],
  '/unnamed.pdf': ['application/octet-stream', SMALL_BYTES],
  '/cat.png': ['image/png', SMALL_BYTES],
  '/api': ['application/json', SMALL_BYTES],
  '/style.css': ['text/css', SMALL_BYTES],
  '/large': ['application/pdf', FILE_BYTES],
};

const home = mkdtempSync(join(tmpdir(), 'gossamer-types-'));
const PIECE = Buffer.alloc(64 * 1024, 'x');
let server: Server;
/** Bytes of the large file that the server could hand on, and whether its connection was closed early. */
let large = { sent: 0, isClosedEarly: false };
let asked: string[] = [];

before(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(path);
    const links = Object.keys(FILES).map((file) => `<a href="${file}">${file}</a>`);
    if (path === '/')
      return void response.setHeader('content-type', 'text/html').end(`<title>t</title>${links.join('')}`);
    const [type, bytes] = FILES[path] ?? ['text/plain', 0];
    response.writeHead(200, { 'content-type': type, 'content-length': bytes, 'x-robots-tag': 'noindex' });
    if (bytes === SMALL_BYTES) return void response.end(`%\0${'x'.repeat(bytes - 2)}`);
    const push = (): void => {
      while (large.sent < bytes && !response.destroyed) {
        large.sent += PIECE.length;
        if (!response.write(PIECE)) return void response.once('drain', push);
      }
      response.end();
    };
    response.once('close', () => (large.isClosedEarly = !response.writableFinished));
    push();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  endBinaries();
  server.close();
  server.closeAllConnections();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  large = { sent: 0, isClosedEarly: false };
  asked = [];
});

let crawls = 0;
const crawl = async (flags: Flags): Promise<{ dir: string; ran: Ran; rows: Map<string, ListedPage> }> => {
  const dir = join(home, `crawl-${++crawls}`);
  const port = (server.address() as AddressInfo).port;
  const words = flagWords({
    email: 'test@example.org',
    delay: '10ms',
    'disk-reserve': '10MiB',
    'connect-to': `*:80:127.0.0.1:${port}`,
    ...flags,
  });
  const ran = await runBinary(['crawl', '--url', 'http://files.example/', '--dir', dir, ...words]);
  return { dir, ran, rows: ran.code === 0 ? await rowsOf(dir) : new Map() };
};

const rowsOf = async (dir: string): Promise<Map<string, ListedPage>> => {
  const { stdout } = await runBinary(['pages', dir, '--format', 'jsonl']);
  const rows = stdout.split('\n').filter(Boolean);
  return new Map(rows.map((line) => JSON.parse(line) as ListedPage).map((row) => [new URL(row.url).pathname, row]));
};

const outcomes = (rows: Map<string, ListedPage>): Record<string, string> =>
  Object.fromEntries([...rows].map(([path, row]) => [path, `${row.outcome} ${row.bytes}`]).sort());

test('by default files are neither asked for nor downloaded', async () => {
  const { ran, rows } = await crawl({});
  assertCode(ran, 0);
  assert.deepEqual(asked.toSorted(), ['/', '/api', '/large', '/papers/7']);
  const { '/': _, ...others } = outcomes(rows);
  assert.deepEqual(others, { '/api': 'body-skipped 0', '/large': 'body-skipped 0', '/papers/7': 'body-skipped 0' });
  assert.ok(large.isClosedEarly && large.sent < FILE_BYTES, `${large.sent} bytes were sent`);
});

test('--types pdf follows links to PDFs and archives them, cut at --body-max, and nothing else but HTML', async () => {
  const { dir, ran, rows } = await crawl({ types: 'pdf', 'body-max': '1MiB' });
  assertCode(ran, 0);
  const { '/': _, ...others } = outcomes(rows);
  assert.deepEqual(others, {
    '/api': 'body-skipped 0',
    '/large': `fetched ${1024 * 1024}`,
    '/paper.pdf': `fetched ${SMALL_BYTES}`,
    '/papers/7': `fetched ${SMALL_BYTES}`,
    '/unnamed.pdf': `fetched ${SMALL_BYTES}`,
  });
  assert.equal(rows.get('/large')!.truncated, 'length');
  assert.ok(large.isClosedEarly && large.sent < FILE_BYTES, `${large.sent} bytes were sent`);
  const { content_type, noindex, charset, title } = rows.get('/paper.pdf')!;
  assert.deepEqual(
    { content_type, noindex, charset, title },
    { content_type: 'application/pdf', noindex: true, charset: '', title: '' },
  );
  const archived = await archivedIn(dir);
  assert.equal(
    archived.find(({ url, type }) => type === 'response' && url.endsWith('/paper.pdf'))?.payload.length,
    SMALL_BYTES,
  );
  const shown = await runBinary(['show', dir, 'http://files.example/paper.pdf', '--text']);
  assert.deepEqual([shown.code, shown.stdout], [0, '']);
  assertCode(await runBinary(['verify', dir]), 0);
  const explained = await runBinary(['explain', dir, 'http://files.example/cat.png', '--json']);
  assert.equal((JSON.parse(explained.stdout) as { reason: string }).reason, 'not-text');
});

test('--types json,image,css archives each of them', async () => {
  const { ran, rows } = await crawl({ types: 'json,image/*,css' });
  assertCode(ran, 0);
  const fetched = [...rows].filter(([, { outcome }]) => outcome === 'fetched').map(([path]) => path);
  assert.deepEqual(fetched.toSorted(), ['/', '/api', '/cat.png', '/style.css']);
});

test('--types is kept, and a resume can change it', async () => {
  const { dir, ran } = await crawl({ types: 'html', 'max-pages': 1 });
  assertCode(ran, 0);
  const kept = (): unknown =>
    (JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as { settings: { types: unknown } }).settings.types;
  assert.deepEqual(kept(), ['html']);
  assertCode(await runBinary(['resume', dir, '--types', 'json', '--max-pages', 'none']), 0);
  assert.deepEqual(kept(), ['json']);
  const rows = outcomes(await rowsOf(dir));
  assert.deepEqual([rows['/api'], rows['/papers/7']], [`fetched ${SMALL_BYTES}`, 'body-skipped 0']);
});

test('bodies that are not text are refused where none is archived, and a slip in a name gets a sentence', async () => {
  for (const keep of ['text', 'none']) {
    const { ran } = await crawl({ types: 'html,pdf', keep });
    assertCode(ran, 2);
    assert.match(
      ran.stderr,
      new RegExp(`--types pdf asks for bodies that are not text, and --keep ${keep} archives none`),
    );
  }
  const { ran } = await crawl({ types: 'pfd' });
  assertCode(ran, 2);
  assert.match(ran.stderr, /"pfd" is not a type \(did you mean pdf\?\)/);
  assert.deepEqual(asked, []);
});
