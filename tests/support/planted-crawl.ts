/** A crawl directory with a ledger and archived robots.txt files as a test wants them: real writers, made requests. */

import { join } from 'node:path';
import { addDead } from '../../src/archive/dead-list.ts';
import { openArchive } from '../../src/archive/files.ts';
import { recordGroup, warcinfoRecord } from '../../src/archive/records.ts';
import { keepIdentity, makeCrawlFolder, writeIdentity } from '../../src/folder/folder.ts';
import type { Answered } from '../../src/model/exchange.ts';
import { completeSettings } from '../../src/model/read-settings.ts';
import type { Settings } from '../../src/model/settings.ts';
import type { NotedRequest } from '../../src/ledger/format.ts';
import { openLedger } from '../../src/ledger/writer.ts';
import { robotsDigest } from '../../src/politeness/robots-digest.ts';
import { parseRobots } from '../../src/politeness/robots.ts';

/** When planted crawls begin. */
export const PLANTED_AT = Date.UTC(2026, 0, 1, 12);
export const PLANTED_DELAY_MS = 5_000;

export interface PlantedRequest extends Partial<Omit<NotedRequest, 'at'>> {
  /** Milliseconds after PLANTED_AT. */
  readonly at: number;
  readonly url: string;
  /** Null for a request that was under way at a kill. */
  readonly tookMs?: number | null;
  readonly result?: string;
}

export interface PlantedRobots {
  readonly at: number;
  readonly url: string;
  readonly text?: string;
  readonly status?: number;
  readonly location?: string;
  /** In one visit with the one before it. */
  readonly goesOn?: boolean;
  /** The settlement of its visit was refused. */
  readonly dead?: boolean;
}

export interface Planted {
  readonly requests: readonly PlantedRequest[];
  readonly robots?: readonly PlantedRobots[];
  readonly settings?: Partial<Settings>;
  readonly thread?: string;
  /** Which of several members of one crawl it is. */
  readonly member?: string;
}

export const plantCrawl = async (dir: string, planted: Planted): Promise<void> => {
  makeCrawlFolder(dir);
  const settings = completeSettings({ email: 'test@example.org', delayMs: PLANTED_DELAY_MS, ...planted.settings }, 2);
  const { member } = planted;
  const identity = writeIdentity(dir, settings);
  if (member !== undefined) keepIdentity(dir, { ...identity, id: 'planted', member });
  plantArchive(dir, planted.robots ?? []);
  await plantLedger(dir, planted, settings);
};

/** The rules of this text, as a request by them notes them. */
export const digestOf = (text: string): string => robotsDigest(parseRobots(text, 'gossamer'));

const plantLedger = async (
  dir: string,
  { requests, thread = 'fetch-1' }: Planted,
  { delayMs, timeoutMs, keep }: Settings,
): Promise<void> => {
  const ledger = openLedger({
    dir: join(dir, 'ledger'),
    now: () => PLANTED_AT,
    thread,
    head: {
      version: '1',
      userAgent: 'Gossamer/1 (+contact; test@example.org)',
      productToken: 'gossamer',
      delayMs,
      timeoutMs,
      keep,
    },
  });
  for (const [n, { at, url, tookMs = 100, result = '200', ...more }] of requests.entries()) {
    const number = ledger.sending({
      at: PLANTED_AT + at,
      url,
      lease: n + 1,
      kind: url.endsWith('/robots.txt') ? 'robots' : 'page',
      delayMs,
      restMs: 0,
      rules: '',
      address: '192.0.2.1',
      site: new URL(url).hostname,
      ...more,
    });
    if (tookMs !== null) ledger.ended({ number, tookMs, answeredMs: tookMs, result });
  }
  await ledger.close();
};

const plantArchive = (dir: string, robots: readonly PlantedRobots[]): void => {
  if (robots.length === 0) return;
  const archive = openArchive({
    dir: join(dir, 'warc'),
    settled: { file: '', bytes: 0 },
    stamp: () => '20260101000000',
    warcinfo: (fileName) =>
      warcinfoRecord({
        fileName,
        at: PLANTED_AT,
        software: 'test',
        operator: 'test@example.org',
        userAgent: 'test',
        robots: 'classic',
        tlsVerification: 'none',
      }),
  });
  for (const [n, one] of robots.entries()) {
    if (one.goesOn) continue;
    const visit = [one, ...until(robots.slice(n + 1), ({ goesOn }) => !goesOn)];
    const { bytes } = recordGroup({ robots: visit.map(answerOf), page: pageOf(one), text: null, keep: 'all' });
    const [place] = archive.append([bytes]);
    if (one.dead) addDead(dir, [{ ...place!, bytes: bytes.length, why: 'planted' }]);
  }
  archive.close();
};

const until = <T>(list: readonly T[], isEnd: (one: T) => boolean): readonly T[] => {
  const end = list.findIndex(isEnd);
  return end < 0 ? list : list.slice(0, end);
};

/** What stands between two visits in an archive. */
const pageOf = (one: PlantedRobots): Answered =>
  answerOf({ at: one.at + 1, url: `${new URL(one.url).origin}/front`, text: 'a page' });

const answerOf = ({ at, url, text = '', status = 200, location }: PlantedRobots): Answered => {
  const headers = { 'content-type': 'text/plain', ...(location === undefined ? {} : { location }) };
  const head = `HTTP/1.1 ${status} X\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
  const startedAt = PLANTED_AT + at;
  return {
    kind: 'answered',
    url,
    startedAt,
    answeredAt: startedAt + 1,
    endedAt: startedAt + 2,
    address: '192.0.2.1',
    requestHead: `GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`,
    head,
    status,
    headers,
    body: new Uint8Array(Buffer.from(text)),
    truncated: null,
  };
};
