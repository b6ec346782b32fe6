/** What comes from the web reaches a terminal and the log as text that can be seen, never as commands. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runBinary, type Ran } from '../support/binary.ts';
import { runInTerminal } from '../support/in-terminal.ts';
import { assertCode } from '../support/stage.ts';

/** A title for the window, a C1 control, a direction that turns the line round, DEL, and a line separator. */
const NASTY = '\x1b]0;owned\x07\x9b31m\u202Egnp.exe\u2066\u061C\x7f\u2028end';
const URL_OF = 'http://nasty.example';
/** What a terminal, or a person who reads on one, would take for more than a character; line ends and tabs apart. */
const UNSAFE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\r*\n)/; // a terminal gets one more carriage return at the end of each line

const home = mkdtempSync(join(tmpdir(), 'gossamer-terminal-'));
const dir = join(home, 'crawl');
const body = `<html lang="de${NASTY}"><title>t${NASTY}</title><p>text${NASTY}</p><a href="/away">away</a></html>`;

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');
const PAGES: Readonly<Record<string, Buffer>> = {
  '/': Buffer.concat([
    utf8(`HTTP/1.1 200 OK\r\nContent-Type: text/html;charset=utf-8;${NASTY}\r\nX-Nasty: ${NASTY}\r\n`),
    utf8(`Connection: close\r\nContent-Length: ${utf8(body).length}\r\n\r\n${body}`),
  ]),
  '/away': utf8(`HTTP/1.1 302 Found\r\nLocation: http://[${NASTY}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`),
};
const NOT_FOUND = utf8('HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (head: Buffer) => socket.end(PAGES[head.toString('latin1').split(' ')[1]!] ?? NOT_FOUND));
});
let crawled: Ran;

before(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const hooks = join(home, 'hooks.mjs');
  writeFileSync(hooks, 'export const extract = ({ html }) => { throw new Error(html); };\n');
  crawled = await runInTerminal([
    ...['crawl', '--url', `${URL_OF}/`, '--email', 'test@example.org', '--dir', dir, '--delay', '5ms'],
    ...['--connect-to', `*:80:127.0.0.1:${(server.address() as AddressInfo).port}`, '--disk-reserve', '0'],
    ...['--hooks', hooks, '--log-level', 'debug'],
  ]);
  assertCode(crawled, 0);
});

after(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

const assertSafe = (text: string, what: string): void =>
  assert.equal(UNSAFE.exec(text)?.[0].codePointAt(0)?.toString(16), undefined, `${what}: ${JSON.stringify(text)}`);

test('a hook that throws what a page says warns of it in visible characters, on the terminal and in the log', () => {
  assert.match(crawled.stdout, /extract\(\) of the hooks .* failed for .*de\\u\{1b\}\]0;owned/);
  assertSafe(crawled.stdout, 'the terminal');
  const log = readFileSync(join(dir, 'logs', 'gossamer.log'), 'utf8');
  assert.match(log, /owned/);
  assertSafe(log, 'the log');
});

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'show of a page': ['show', dir, `${URL_OF}/`],
  'show of a redirect': ['show', dir, `${URL_OF}/away`],
  'show --headers': ['show', dir, `${URL_OF}/`, '--headers'],
  'show --html': ['show', dir, `${URL_OF}/`, '--html'],
  'show --text': ['show', dir, `${URL_OF}/`, '--text'],
  pages: ['pages', dir],
  'pages --format csv': ['pages', dir, '--format', 'csv'],
  'pages --format jsonl': ['pages', dir, '--format', 'jsonl'],
  'export --format csv': ['export', dir, '--format', 'csv'],
  'export --format jsonl': ['export', dir, '--format', 'jsonl'],
  'explain --json': ['explain', dir, `${URL_OF}/away`, '--json'],
};

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name} sends a terminal nothing but characters that can be seen`, async () => {
    const ran = await runInTerminal(args, { columns: 1_000 });
    assertCode(ran, 0);
    assertSafe(ran.stdout, name);
    assert.match(ran.stdout, /owned/, 'what is escaped is still there');
  });
}

test('to a pipe, show and csv give every byte as it came', async () => {
  const html = await runBinary(['show', dir, `${URL_OF}/`, '--html']);
  assert.equal(html.stdout, body);
  const headers = await runBinary(['show', dir, `${URL_OF}/`, '--headers']);
  assert.ok(headers.stdout.includes('\x1b]0;owned\x07'));
  for (const command of ['pages', 'export']) {
    const csv = await runBinary([command, dir, '--format', 'csv']);
    assert.ok(csv.stdout.includes(`de${NASTY}`), csv.stdout);
  }
});
