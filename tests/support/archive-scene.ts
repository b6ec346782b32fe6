/** Records of an archive, made and read back in a temporary folder. */

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { readRecords, type WarcRecord } from '../../src/archive/reader.ts';
import { recordGroup } from '../../src/archive/records.ts';
import type { Answered } from '../../src/model/exchange.ts';

export const dir = mkdtempSync(join(tmpdir(), 'gossamer-archive-'));
after(() => rmSync(dir, { recursive: true }));

let files = 0;
export const saved = (...parts: readonly Uint8Array[]): string => {
  const path = join(dir, `${files++}.warc.gz`);
  writeFileSync(path, Buffer.concat(parts));
  return path;
};

export const bytes = (text: string | Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text as string));

const headersOf = (head: string): Record<string, string> =>
  Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .filter((line) => line !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );

export const answered = (change: Partial<Answered> = {}): Answered => {
  const body = change.body ?? bytes('<p>hello</p>');
  const head = change.head ?? `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`;
  return {
    kind: 'answered',
    url: 'https://example.org/a?b=c|d',
    startedAt: 1_794_776_700_123.5,
    answeredAt: 0,
    endedAt: 0,
    address: '2001:db8::7',
    requestHead: 'GET /a?b=c|d HTTP/1.1\r\nHost: example.org\r\n\r\n',
    head,
    status: 200,
    headers: headersOf(head),
    body,
    truncated: null,
    ...change,
  };
};

/** SHA-1 in base 32 by another road than ours. */
export const digestOf = (block: Uint8Array): string => {
  const digits = BigInt(`0x${createHash('sha1').update(block).digest('hex')}`)
    .toString(32)
    .padStart(32, '0');
  return `sha1:${digits.replace(/./g, (digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(digit, 32)] as string)}`;
};

export const types = (records: readonly WarcRecord[]): string[] =>
  records.map((record) => record.headers['warc-type'] as string);

export const groupRecords = (input: Partial<Parameters<typeof recordGroup>[0]>): WarcRecord[] => [
  ...readRecords(saved(recordGroup({ robots: [], page: null, text: null, keep: 'all', ...input }).bytes)),
];

/** Bytes that do not compress, the same in every run. */
export const noise = (length: number): Buffer => {
  const blocks: Buffer[] = [];
  for (let at = 0; at < length; at += 64) blocks.push(createHash('sha512').update(`${length} ${at}`).digest());
  return Buffer.concat(blocks).subarray(0, length);
};
