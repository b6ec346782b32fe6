/**
 * The notes of a ledger file: one line each, plain text, small numbers. The first line says under which settings the
 * requests after it were sent; a request is one line before it is sent and one when it has ended.
 *
 *   {"format":1,"delayMs":5000,...}                              the head, as JSON
 *   c  12  1  p  5000  5000  x8Kq_1Zt  192.0.2.1  example.org  https://example.org/a   (with tabs between)
 *   c  40  1  p  0  0  x8Kq_1Zt  192.0.2.2  example.net  https://example.net/  0o
 *   e  3  180  95  200
 *
 * c: a request. Milliseconds since the request before it (or since `at` of the head), its lease less that of the one
 *    before it, kind, delay, rest, digest of the rules, address, site, URL. Requests are numbered in order, the first
 *    of a file as `first` of its head says. Where a rule of its site is in force, there is one field more: its delay,
 *    then `o` for a site of one's own, `i` where its robots.txt is disregarded. Where the number of the crawl's last
 *    change is another than that of the request before it (0 at first), that follows as one more field, and the one
 *    before it may be empty.
 * e: the end of a request. How many requests ago it was sent, how long it took to the end and to the first byte of the
 *    response (empty for none), its status or the cause of its failure.
 */

export const LEDGER_DIR = 'ledger';
export const FORMAT = 1;

/** What holds for all requests of a file. */
export interface RunHead {
  readonly format: typeof FORMAT;
  /** Run and thread together name the writer; its files follow each other. */
  readonly run: string;
  readonly thread: string;
  /** The clock when the file was begun, and the number of its first request. */
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

/** `follow` is where a robots.txt redirected to: the only request that is sent without waiting. */
export type NoteKind = 'robots' | 'follow' | 'page' | 'sitemap';

export interface NotedRequest {
  /** When it was sent, in whole milliseconds of the crawl's clock. */
  readonly at: number;
  /** Names its visit, in the files of one writer. */
  readonly lease: number;
  readonly kind: NoteKind;
  readonly delayMs: number;
  readonly restMs: number;
  /** Digest of the robots rules that allowed it; empty for a request for robots.txt. */
  readonly rules: string;
  readonly address: string;
  readonly site: string;
  readonly url: string;
  /** The rule of its site, where one was in force. */
  readonly rule?: NotedRule;
  /** The number of the last change to the crawl when its visit was claimed; 0 where that is not known. */
  readonly entry?: number;
}

/** What differed from the settings of the run. */
export interface NotedRule {
  readonly delayMs: number;
  readonly own: boolean;
  readonly robotsIgnored: boolean;
}

export interface NotedEnd {
  readonly number: number;
  readonly tookMs: number;
  /** From its start to the first byte of its response; null for none. */
  readonly answeredMs: number | null;
  /** The status, or the cause of the failure. */
  readonly result: string;
}

/** What the next line is relative to. Writer and reader keep one each, and it begins anew with each file. */
export interface Cursor {
  at: number;
  lease: number;
  /** The number of the next request. */
  number: number;
  entry: number;
}

export const cursorOf = (head: Pick<RunHead, 'at' | 'first'>): Cursor => ({
  at: head.at,
  lease: 0,
  number: head.first,
  entry: 0,
});

export const headLine = (head: RunHead): string => `${JSON.stringify(head)}\n`;

const LETTERS: Readonly<Record<NoteKind, string>> = { robots: 'r', follow: 'f', page: 'p', sitemap: 's' };
const KINDS: Readonly<Record<string, NoteKind>> = { r: 'robots', f: 'follow', p: 'page', s: 'sitemap' };

/** URLs are canonical and so have neither tabs nor line ends; the parts that often repeat together stand together. */
export const requestLine = (request: NotedRequest, { at, lease, entry }: Cursor): string =>
  `c\t${request.at - at}\t${request.lease - lease}\t${LETTERS[request.kind]}\t${request.delayMs}\t${request.restMs}\t${request.rules}\t${request.address}\t${request.site}\t${request.url}${more(request, entry)}\n`;

const more = ({ rule, entry = 0 }: NotedRequest, before: number): string => {
  const ruled = rule ? ruleText(rule) : '';
  return entry === before ? (rule ? `\t${ruled}` : '') : `\t${ruled}\t${entry}`;
};

export const ruleText = ({ delayMs, own, robotsIgnored }: NotedRule): string =>
  `${delayMs}${own ? 'o' : ''}${robotsIgnored ? 'i' : ''}`;

/** Null when it is none. */
export const readRule = (text: string): NotedRule | null => {
  const [, delayMs, own, ignored] = /^(\d{1,15})(o?)(i?)$/.exec(text) ?? [];
  return delayMs === undefined ? null : { delayMs: Number(delayMs), own: own === 'o', robotsIgnored: ignored === 'i' };
};

export const afterRequest = (cursor: Cursor, { at, lease, entry = 0 }: NotedRequest): void => {
  cursor.at = at;
  cursor.lease = lease;
  cursor.entry = entry;
  cursor.number++;
};

/** `latest` is the number of the last request before this line. */
export const endLine = ({ number, tookMs, answeredMs, result }: NotedEnd, latest: number): string =>
  `e\t${latest - number}\t${tookMs}\t${answeredMs ?? ''}\t${result}\n`;

export type Note =
  | { readonly kind: 'request'; readonly number: number; readonly request: NotedRequest }
  | { readonly kind: 'end'; readonly end: NotedEnd };

/** The note of a line; null when it is none. Moves the cursor past a request. */
export const readNote = (line: string, cursor: Cursor): Note | null => {
  const fields = line.split('\t');
  return fields[0] === 'c' ? readRequest(fields, cursor) : fields[0] === 'e' ? readEnd(fields, cursor) : null;
};

const WHOLE = /^-?\d{1,16}$/;
const isWhole = (text: string | undefined): boolean => text !== undefined && WHOLE.test(text);

const readRequest = (fields: readonly string[], cursor: Cursor): Note | null => {
  const [, sinceMs, leases, letter, delayMs, restMs, rules, address, site, url, ruled, numbered] = fields;
  const isUnruled = ruled === undefined || (ruled === '' && numbered !== undefined);
  const rule = isUnruled ? undefined : readRule(ruled);
  const kind = KINDS[letter ?? ''];
  if (
    fields.length < 10 ||
    fields.length > 12 ||
    rule === null ||
    (numbered !== undefined && !isWhole(numbered)) ||
    kind === undefined ||
    !isWhole(sinceMs) ||
    !isWhole(leases) ||
    !isWhole(delayMs) ||
    !isWhole(restMs)
  )
    return null;
  const entry = numbered === undefined ? cursor.entry : Number(numbered);
  const request: NotedRequest = {
    at: cursor.at + Number(sinceMs),
    lease: cursor.lease + Number(leases),
    kind,
    delayMs: Number(delayMs),
    restMs: Number(restMs),
    rules: rules!,
    address: address!,
    site: site!,
    url: url!,
    ...(rule ? { rule } : {}),
    ...(entry > 0 ? { entry } : {}),
  };
  const { number } = cursor;
  afterRequest(cursor, request);
  return { kind: 'request', number, request };
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
