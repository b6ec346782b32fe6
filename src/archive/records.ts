/** The WARC 1.1 records of one visit, compressed: bytes in, bytes out. */

import { hash, randomUUID } from 'node:crypto';

import type { Answered } from '../model/exchange.ts';
import type { RecordGroup } from '../model/settlement.ts';
import { storedHead } from './head.ts';
import { looksPacked, packMember } from './member.ts';

export interface RecordInput {
  /** The robots.txt exchanges of this visit, in order. */
  readonly robots: readonly Answered[];
  readonly page: Answered | null;
  /** The visible text; null when the page has none. */
  readonly text: string | null;
  /** `all`: response, request, and text if there is any. `text`: one record with the text, even if it is empty. */
  readonly keep: 'all' | 'text';
  /** Name of the encoding the text was read with. */
  readonly charset?: string;
  /** `payloadDigest` of the page's body, where it is known already: it costs 40 us for 60 KB. */
  readonly digest?: string;
  /** Where the page leads, with `--keep-links`; no record when there is none. */
  readonly links?: KeptLinks | undefined;
  /** The id of the warcinfo record that describes these records; they name none without it. */
  readonly warcinfoId?: string | undefined;
}

/** The links of a page as they are archived. */
export interface KeptLinks {
  readonly urls: readonly string[];
  /** How many there were besides, over the ceiling. */
  readonly cut: number;
}

export interface WarcinfoInput {
  /** A fresh one unless it is given. */
  readonly id?: string | undefined;
  readonly software: string;
  readonly fileName: string;
  readonly at: number;
  /** The e-mail address of the person who crawls. */
  readonly operator: string;
  readonly userAgent: string;
  /** How robots.txt was treated: `classic` means obeyed. */
  readonly robots: string;
  /** What was asked of certificates: nothing, or that they are right. */
  readonly tlsVerification: 'none' | 'required';
  readonly description?: string;
}

type Field = readonly [name: string, value: string];
interface Draft {
  readonly fields: readonly Field[];
  /** What the block is made of, in order; text is latin1. */
  readonly block: readonly (string | Uint8Array)[];
  /** No use to compress it (again). */
  readonly packed: boolean;
}

const RECORD_END = '\r\n\r\n';

/** All records of a visit, one gzip member each: robots.txt first, then the page. */
export const recordGroup = (input: RecordInput): RecordGroup => {
  const marks: Field[] = [...describedBy(input), ['Gossamer-Kind', 'robots']];
  const members = input.robots.flatMap((exchange) => exchangeRecords(exchange, marks, undefined).members);
  const pageIndex = members.length;
  if (input.page !== null) members.push(...pageRecords(input, input.page));
  const pageAt = bytesOf(members.slice(0, pageIndex));
  return {
    bytes: joined(members, bytesOf(members)),
    pageAt: input.page === null ? -1 : pageAt,
    pageLength: members[pageIndex]?.length ?? 0,
  };
};

const describedBy = ({ warcinfoId }: RecordInput): Field[] =>
  warcinfoId === undefined ? [] : [['WARC-Warcinfo-ID', warcinfoId]];

/** SHA-1 in base 32, as WARC files write it. */
export const payloadDigest = (body: Uint8Array): string => `sha1:${base32(hash('sha1', body, 'buffer'))}`;

/** The first record of every file, and of every run: who made what follows, with what, and how. */
export const warcinfoRecord = (info: WarcinfoInput): Uint8Array => {
  const lines: Field[] = [
    ['software', info.software],
    ['format', 'WARC File Format 1.1'],
    ['conformsTo', 'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
    ['operator', info.operator],
    ['http-header-user-agent', info.userAgent],
    ['robots', info.robots],
    ['tls-verification', info.tlsVerification],
  ];
  if (info.description !== undefined) lines.push(['description', info.description]);
  return member({
    fields: [
      ['WARC-Type', 'warcinfo'],
      ['WARC-Record-ID', info.id ?? newRecordId()],
      ['WARC-Date', isoDate(info.at)],
      ['WARC-Filename', info.fileName],
      ['Content-Type', 'application/warc-fields'],
    ],
    block: [Buffer.from(fieldLines(lines))],
    packed: false,
  });
};

const pageRecords = (input: RecordInput, page: Answered): Uint8Array[] => {
  const text = input.text ?? '';
  if (input.keep === 'text') {
    const id = newRecordId();
    return [conversion({ input, page, text, id, refersTo: null }), ...outlinks(input, page, id)];
  }
  const { id, members } = exchangeRecords(page, describedBy(input), input.digest);
  // Second in its group: the place of the page then also says where its links begin, and no body is unpacked to find
  // them.
  members.splice(1, 0, ...outlinks(input, page, id));
  if (text !== '') members.push(conversion({ input, page, text, id: newRecordId(), refersTo: id }));
  return members;
};

/** What the block of a metadata record calls a link of the page, as Heritrix does. */
export const OUTLINK = 'outlink: ';
/** The field of such a record that counts the links over the ceiling. */
export const LINKS_CUT = 'Gossamer-Links-Cut';

/** A list of its links beside the first record of a page; nothing when there is none. */
const outlinks = (input: RecordInput, page: Answered, id: string): Uint8Array[] => {
  const { links } = input;
  if (links === undefined || links.urls.length + links.cut === 0) return [];
  const fields: Field[] = [
    ['WARC-Type', 'metadata'],
    ['WARC-Record-ID', newRecordId()],
    ['WARC-Date', isoDate(page.startedAt)],
    ['WARC-Target-URI', page.url],
    ['WARC-Concurrent-To', id],
    ...describedBy(input),
    ['Content-Type', 'application/warc-fields'],
  ];
  if (links.cut > 0) fields.push(['WARC-Truncated', 'length'], [LINKS_CUT, String(links.cut)]);
  let lines = '';
  for (const url of links.urls) lines += `${OUTLINK}${url}\r\n`;
  const block = Buffer.from(lines);
  fields.push(['WARC-Block-Digest', payloadDigest(block)]);
  return [member({ fields, block: [block], packed: false })];
};

/** The response, then its request. */
const exchangeRecords = (
  exchange: Answered,
  marks: readonly Field[],
  digest: string | undefined,
): { id: string; members: Uint8Array[] } => {
  const id = newRecordId();
  const shared: Field[] = [
    ['WARC-Date', isoDate(exchange.startedAt)],
    ['WARC-Target-URI', exchange.url],
  ];
  if (exchange.address !== '') shared.push(['WARC-IP-Address', exchange.address]);
  shared.push(...marks);
  const response: Field[] = [
    ['WARC-Type', 'response'],
    ['WARC-Record-ID', id],
    ...shared,
    ['Content-Type', 'application/http;msgtype=response'],
    ['WARC-Payload-Digest', digest ?? payloadDigest(exchange.body)],
  ];
  if (exchange.truncated !== null) response.push(['WARC-Truncated', exchange.truncated]);
  const request: Field[] = [
    ['WARC-Type', 'request'],
    ['WARC-Record-ID', newRecordId()],
    ...shared,
    ['WARC-Concurrent-To', id],
    ['Content-Type', 'application/http;msgtype=request'],
  ];
  return {
    id,
    members: [
      member({ fields: response, block: [storedHead(exchange), exchange.body], packed: looksPacked(exchange.body) }),
      member({ fields: request, block: [exchange.requestHead], packed: false }),
    ],
  };
};

/** The text of a page. Without its response there is no record to refer to, and the cut must be told here. */
const conversion = (of: {
  input: RecordInput;
  page: Answered;
  text: string;
  id: string;
  refersTo: string | null;
}): Uint8Array => {
  const { input, page, text, id, refersTo } = of;
  const fields: Field[] = [
    ['WARC-Type', 'conversion'],
    ['WARC-Record-ID', id],
    ['WARC-Date', isoDate(page.startedAt)],
    ['WARC-Target-URI', page.url],
    ...describedBy(input),
    ['Content-Type', 'text/plain;charset=utf-8'],
  ];
  // WARC 1.1, 5.7: WARC-Refers-To-Target-URI and -Date are for revisits alone.
  if (refersTo !== null) fields.push(['WARC-Refers-To', refersTo]);
  else if (page.truncated !== null) fields.push(['WARC-Truncated', page.truncated]);
  if (input.charset !== undefined) fields.push(['Gossamer-Charset', input.charset]);
  const block = bytesOfText(text);
  // A response has the digest of its payload, and every record the checksum of its gzip member; the text has nothing
  // else.
  fields.push(['WARC-Block-Digest', payloadDigest(block)]);
  return member({ fields, block: [block], packed: false });
};

const member = (draft: Draft): Uint8Array => {
  const blockBytes = bytesOf(draft.block);
  const head = `WARC/1.1\r\n${fieldLines(draft.fields)}Content-Length: ${blockBytes}\r\n\r\n`;
  const headBytes = Buffer.byteLength(head);
  const length = headBytes + blockBytes + RECORD_END.length;
  const raw = length <= bench.length ? bench : Buffer.allocUnsafeSlow(length);
  raw.write(head, 'utf8');
  layInto(raw, headBytes, draft.block);
  raw.write(RECORD_END, length - RECORD_END.length, 'latin1');
  return packMember(raw.subarray(0, length), draft.packed);
};

/**
 * Where records are laid out to be packed, which leaves nothing of them here; pages of common size then need no memory
 * of their own.
 */
const bench = Buffer.allocUnsafeSlow(1024 * 1024);
/** And where the text of such a page is, until it is laid out. */
const textBench = Buffer.allocUnsafeSlow(256 * 1024);

const bytesOfText = (text: string): Uint8Array => {
  const bytes = Buffer.byteLength(text);
  if (bytes > textBench.length) return Buffer.from(text);
  textBench.write(text, 'utf8');
  return textBench.subarray(0, bytes);
};

const fieldLines = (fields: readonly Field[]): string => {
  let lines = '';
  for (const [name, value] of fields) lines += `${name}: ${oneLine(value)}\r\n`;
  return lines;
};

const CONTROL = /[\x00-\x1f\x7f]/g;
/** A value cannot end its line and so begin a field, or a record, of its own. */
const oneLine = (value: string): string =>
  value.replace(CONTROL, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** An id that no record has yet, as WARC writes it. */
export const newRecordId = (): string => `<urn:uuid:${randomUUID()}>`;

let lastDate = { at: NaN, text: '' };
/** The records of a page have the same one. */
const isoDate = (at: number): string => {
  if (at !== lastDate.at) lastDate = { at, text: new Date(at).toISOString() };
  return lastDate.text;
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** RFC 4648, 6, for lengths that are a multiple of 5: nothing to pad. */
const base32 = (bytes: Uint8Array): string => {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >>> bits) & 31];
    }
  }
  return text;
};

const bytesOf = (parts: readonly (string | Uint8Array)[]): number => parts.reduce((sum, part) => sum + part.length, 0);

/** In memory of its own, never in Node's shared pool: it will be transferred to another thread. */
const joined = (parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> => {
  const room = Buffer.from(new ArrayBuffer(length));
  layInto(room, 0, parts);
  return new Uint8Array(room.buffer);
};

const layInto = (room: Buffer, from: number, parts: readonly (string | Uint8Array)[]): void => {
  let at = from;
  for (const part of parts) {
    if (typeof part === 'string') room.write(part, at, 'latin1');
    else room.set(part, at);
    at += part.length;
  }
};
