/**
 * The notes of a ledger file: one line each, plain text, small numbers. The first line says under which settings the
 * calls after it were made; a call is one line before it leaves and one when it has ended.
 *
 *   {"format":1,"delayMs":5000,...}                              the head, as JSON
 *   c  12  1  p  5000  5000  x8Kq_1Zt  192.0.2.1  example.org  https://example.org/a   (with tabs between)
 *   e  3  180  95  200
 *
 * c: milliseconds since the call before it (or since `at` of the head), the lease less that of the call before it,
 * kind, delay,
 *    rest, digest of the rules, address, site, URL. Calls are numbered in order, from `first` of the head on.
 * e: how many calls ago the one was that ended, how long it took to the end and to the first byte of the answer (empty
 *    for none), its status or the cause of its failure.
 */

export const LEDGER_DIR = 'ledger';
export const FORMAT = 1;

/** What holds for all calls of a file. */
export interface RunHead {
  readonly format: typeof FORMAT;
  /** Together they name the writer; its files follow each other. */
  readonly run: string;
  readonly thread: string;
  /** The clock when the file was begun, and the number of its first call. */
  readonly at: number;
  readonly first: number;
  readonly version: string;
  readonly userAgent: string;
  readonly productToken: string;
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** What was archived: without robots.txt its rules cannot be checked. */
  readonly keep: string;
}

/** `follow` is where a robots.txt redirected to: the one call that waits for no clock. */
export type NoteKind = 'robots' | 'follow' | 'page' | 'sitemap';

export interface NotedCall {
  /** When it left, in whole milliseconds of the crawl's clock. */
  readonly at: number;
  /** Names its visit, in the files of one writer. */
  readonly lease: number;
  readonly kind: NoteKind;
  readonly delayMs: number;
  readonly restMs: number;
  /** Digest of the robots rules that allowed it; empty for the calls that ask for them. */
  readonly rules: string;
  readonly address: string;
  readonly site: string;
  readonly url: string;
}

export interface NotedEnd {
  readonly number: number;
  readonly tookMs: number;
  /** From its start to the first byte of its answer; null for none. */
  readonly answeredMs: number | null;
  /** The status, or the cause of the failure. */
  readonly result: string;
}

/** What the next line is relative to. Writer and reader keep one each, and it begins anew with each file. */
export interface Cursor {
  at: number;
  lease: number;
  /** Of the next call. */
  number: number;
}

export const cursorOf = (head: Pick<RunHead, 'at' | 'first'>): Cursor => ({
  at: head.at,
  lease: 0,
  number: head.first,
});

export const headLine = (head: RunHead): string => `${JSON.stringify(head)}\n`;

const LETTERS: Readonly<Record<NoteKind, string>> = { robots: 'r', follow: 'f', page: 'p', sitemap: 's' };
const KINDS: Readonly<Record<string, NoteKind>> = { r: 'robots', f: 'follow', p: 'page', s: 'sitemap' };

/** URLs are canonical and so have neither tabs nor line ends; the parts that often repeat together stand together. */
export const callLine = (call: NotedCall, { at, lease }: Cursor): string =>
  `c\t${call.at - at}\t${call.lease - lease}\t${LETTERS[call.kind]}\t${call.delayMs}\t${call.restMs}\t${call.rules}\t${call.address}\t${call.site}\t${call.url}\n`;

export const afterCall = (cursor: Cursor, { at, lease }: NotedCall): void => {
  cursor.at = at;
  cursor.lease = lease;
  cursor.number++;
};

/** `latest` is the number of the last call before this line. */
export const endLine = ({ number, tookMs, answeredMs, result }: NotedEnd, latest: number): string =>
  `e\t${latest - number}\t${tookMs}\t${answeredMs ?? ''}\t${result}\n`;

export type Note =
  | { readonly kind: 'call'; readonly number: number; readonly call: NotedCall }
  | { readonly kind: 'end'; readonly end: NotedEnd };

/** Null for a line that is none. Moves the cursor behind a call. */
export const readNote = (line: string, cursor: Cursor): Note | null => {
  const fields = line.split('\t');
  return fields[0] === 'c' ? readCall(fields, cursor) : fields[0] === 'e' ? readEnd(fields, cursor) : null;
};

const WHOLE = /^-?\d{1,16}$/;
const isWhole = (text: string | undefined): boolean => text !== undefined && WHOLE.test(text);

const readCall = (fields: readonly string[], cursor: Cursor): Note | null => {
  const [, sinceMs, leases, letter, delayMs, restMs, rules, address, site, url] = fields;
  const kind = KINDS[letter ?? ''];
  if (
    fields.length !== 10 ||
    kind === undefined ||
    !isWhole(sinceMs) ||
    !isWhole(leases) ||
    !isWhole(delayMs) ||
    !isWhole(restMs)
  )
    return null;
  const call: NotedCall = {
    at: cursor.at + Number(sinceMs),
    lease: cursor.lease + Number(leases),
    kind,
    delayMs: Number(delayMs),
    restMs: Number(restMs),
    rules: rules!,
    address: address!,
    site: site!,
    url: url!,
  };
  const { number } = cursor;
  afterCall(cursor, call);
  return { kind: 'call', number, call };
};

const readEnd = (fields: readonly string[], cursor: Cursor): Note | null => {
  const [, ago, tookMs, answeredMs, result] = fields;
  if (fields.length !== 5 || !isWhole(ago) || !isWhole(tookMs) || (answeredMs !== '' && !isWhole(answeredMs)))
    return null;
  return {
    kind: 'end',
    end: {
      number: cursor.number - 1 - Number(ago),
      tookMs: Number(tookMs),
      answeredMs: answeredMs === '' ? null : Number(answeredMs),
      result: result!,
    },
  };
};
