/** Every robots.txt in an archive, read as the crawler had to read it. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ArchiveFault } from '../../archive/archive.ts';
import { readDead, type DeadSpan } from '../../archive/dead-list.ts';
import { archiveFiles } from '../../archive/files.ts';
import { readFields } from '../../archive/head.ts';
import { readRecordAt, readRecords, splitHttp, type WarcRecord } from '../../archive/reader.ts';
import { ROBOTS_REDIRECTS_MAX, type RobotsRecord } from '../../model/robots.ts';
import { decodeText } from '../../parse/page.ts';
import { robotsDigest } from '../../politeness/robots-digest.ts';
import { parseRobots, robotsVerdict } from '../../politeness/robots.ts';
import { canonicalize } from '../../url/canonical.ts';
import { readLocation } from '../../url/location.ts';
import { siteOf } from '../../url/site.ts';
import { FILES } from '../../folder/folder.ts';
import { sortable, type SortedLine } from './requests.ts';

export interface ArchivedRobots {
  /** The origin whose rules it holds, wherever its redirects led. */
  readonly origin: string;
  /** When the first request for it was sent, and the last one. */
  readonly askedAt: number;
  readonly at: number;
  /** The product token that it was read for. */
  readonly token: string;
  readonly digest: string;
  readonly verdict: RobotsRecord['verdict'];
  readonly crawlDelayMs: number | null;
  /** The settlement of its visit was refused: it was read, but never in force for others. */
  readonly dead: boolean;
  /** Null when they are long: read from `place` when they are needed. */
  readonly rules: string | null;
  readonly place: { readonly path: string; readonly offset: number };
}

export interface ArchiveReading {
  readonly dir: string;
  readonly tokens: readonly string[];
  /** Null for all sites. */
  readonly site: string | null;
  readonly onDamage: (says: string) => void;
  readonly onProgress: (bytes: number) => void;
  readonly take: (line: string) => void;
}

/** Longer rules are not carried through the sort; hardly any are. */
const RULES_CARRIED_CHARS = 8_000;
const ROBOTS_MARK = '0';

/** The size of an archive, to tell how far a reading is. */
export const archiveBytes = (dir: string): number =>
  filesOf(dir).reduce((sum, { path }) => sum + statSync(path).size, 0);

const filesOf = (dir: string): { name: string; path: string }[] => {
  const warc = join(dir, FILES.warc);
  return existsSync(warc) ? archiveFiles(warc).map(({ name }) => ({ name, path: join(warc, name) })) : [];
};

export const readArchivedRobots = async (reading: ArchiveReading): Promise<void> => {
  const files = filesOf(reading.dir);
  const dead = readDead(reading.dir);
  for (const [n, file] of files.entries()) {
    const walk = createWalk(reading, { ...file, dead: dead.filter((span) => span.file === file.name) });
    let before = 0;
    try {
      for (const record of readRecords(file.path)) {
        walk(record);
        if (record.offset - before < PROGRESS_BYTES) continue;
        reading.onProgress(record.offset - before);
        before = record.offset;
        await setImmediate();
      }
    } catch (error) {
      if (!(error instanceof ArchiveFault)) throw error;
      // Where the archive ends, a crawl that runs is just writing, and one that was killed left half a record.
      if (n < files.length - 1 || error.code !== '' || !/where the archive ends/.test(error.message))
        reading.onDamage(error.message);
    }
    reading.onProgress(statSync(file.path).size - before);
  }
};

const PROGRESS_BYTES = 4 * 1024 ** 2;

/** A robots.txt on its way through redirects: its responses follow each other in the archive. */
interface Chain {
  readonly origin: string;
  readonly askedAt: number;
  readonly redirects: number;
  readonly next: string;
}

/**
 * The last response of a visit may redirect to what the next visit in the archive asks for itself. Nothing tells the
 * two apart there, so such a response counts for both origins; what was requested when is in the ledger.
 */
const createWalk = (
  reading: ArchiveReading,
  file: { path: string; dead: readonly DeadSpan[] },
): ((record: WarcRecord) => void) => {
  let underWay: readonly Chain[] = [];
  return (record) => {
    const { headers } = record;
    if (headers['gossamer-kind'] !== 'robots') return void (underWay = []);
    if (headers['warc-type'] !== 'response') return;
    const url = headers['warc-target-uri'] ?? '';
    const at = Date.parse(headers['warc-date'] ?? '');
    const chains = [
      ...underWay.filter(({ next }) => next === url).map((chain) => ({ ...chain, redirects: chain.redirects + 1 })),
      ...(isOwn(url) ? [{ origin: url.slice(0, -ROBOTS_PATH.length), askedAt: at, redirects: 0, next: '' }] : []),
    ];
    const response = responseOf(record);
    underWay = chains.flatMap((chain) => {
      const known = meaningOf(response, url, chain);
      if (known === 'trouble') return [];
      if (known.kind === 'follow') return [{ ...chain, next: known.to }];
      give(reading, file, { chain, at, text: known.text, offset: record.offset });
      return [];
    });
  };
};

const ROBOTS_PATH = '/robots.txt';
const isOwn = (url: string): boolean =>
  url.endsWith(ROBOTS_PATH) && !url.slice(url.indexOf('//') + 2, -ROBOTS_PATH.length).includes('/');

interface Read {
  readonly chain: Chain;
  readonly at: number;
  readonly text: string | null;
  readonly offset: number;
}

const give = (
  reading: ArchiveReading,
  { path, dead }: { path: string; dead: readonly DeadSpan[] },
  { chain, at, text, offset }: Read,
): void => {
  const site = siteOfOrigin(chain.origin);
  if (reading.site !== null && site !== reading.site) return;
  const isDead = dead.some((span) => span.offset <= offset && offset < span.offset + span.bytes);
  for (const token of reading.tokens) {
    const { verdict, rules, crawlDelayMs } = rulesFor(text, token);
    const carried = rules.length <= RULES_CARRIED_CHARS ? rules : null;
    const rest = [
      chain.origin,
      chain.askedAt,
      token,
      robotsDigest({ verdict, rules, crawlDelayMs }),
      verdict,
      crawlDelayMs,
      isDead,
      carried,
      path,
      offset,
    ];
    reading.take(sortable({ site, mark: ROBOTS_MARK, at, nth: offset, rest }));
  }
};

const siteOfOrigin = (origin: string): string => {
  const address = canonicalize(origin);
  return typeof address === 'string' ? '' : siteOf(address.host);
};

const responseOf = ({ block }: WarcRecord): { status: number; headers: Record<string, string>; body: Buffer } => {
  const { head, body } = splitHttp(block);
  return { status: Number(/^HTTP\/\S+ +(\d{3})/.exec(head)?.[1] ?? 0), headers: readFields(head), body };
};

/** The text to read; null when everything is allowed. */
type Meaning =
  | 'trouble'
  | { readonly kind: 'follow'; readonly to: string }
  | { readonly kind: 'known'; readonly text: string | null };

/** As RFC 9309, 2.3.1 has it; visit/robots-request.ts does the same with responses as they come. */
const meaningOf = ({ status, headers, body }: ReturnType<typeof responseOf>, url: string, chain: Chain): Meaning => {
  const verdict = robotsVerdict(status);
  switch (verdict) {
    case 'trouble':
      return 'trouble';
    case 'allow':
      return { kind: 'known', text: null };
    case 'read':
      return { kind: 'known', text: decodeText(headers, body) };
    case 'follow': {
      const target = canonicalize(readLocation(headers.location ?? ''), url);
      if (typeof target === 'string' || chain.redirects >= ROBOTS_REDIRECTS_MAX) return { kind: 'known', text: null };
      return { kind: 'follow', to: target.url };
    }
    default:
      return verdict satisfies never;
  }
};

const rulesFor = (text: string | null, token: string): Pick<RobotsRecord, 'verdict' | 'rules' | 'crawlDelayMs'> =>
  text === null ? { verdict: 'all', rules: '', crawlDelayMs: null } : parseRobots(text, token);

type RobotsRest = [
  string,
  number,
  string,
  string,
  RobotsRecord['verdict'],
  number | null,
  boolean,
  string | null,
  string,
  number,
];

export const readRobots = ({ at, rest }: SortedLine): ArchivedRobots => {
  const [origin, askedAt, token, digest, verdict, crawlDelayMs, dead, rules, path, offset] = JSON.parse(
    rest,
  ) as RobotsRest;
  return { origin, at, askedAt, token, digest, verdict, crawlDelayMs, dead, rules, place: { path, offset } };
};

/** A robots.txt of the archive as the crawler has it. */
export const recordOf = ({ origin, at, verdict, crawlDelayMs, rules, place, token }: ArchivedRobots): RobotsRecord => ({
  origin,
  fetchedAt: at,
  expiresAt: at,
  failures: 0,
  verdict,
  crawlDelayMs,
  rules: rules ?? parseRobots(textAt(place), token).rules,
});

const textAt = ({ path, offset }: ArchivedRobots['place']): string => {
  const { headers, body } = responseOf(readRecordAt(path, offset));
  return decodeText(headers, body);
};
