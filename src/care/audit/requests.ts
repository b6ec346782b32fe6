/** The requests of one or more ledgers, as lines that sort by site and time. */

import { join } from 'node:path';
import { LEDGER_DIR, readRule, ruleText, type NotedRequest, type RunHead } from '../../ledger/format.ts';
import { readLedger, type ReadRequest } from '../../ledger/read.ts';

/** The settings under which a request was sent. */
export type RequestSettings = Pick<
  RunHead,
  'version' | 'userAgent' | 'productToken' | 'delayMs' | 'timeoutMs' | 'keep'
>;

export interface AuditedRequest extends NotedRequest {
  /** Names its visit among all. */
  readonly visit: string;
  /** Which of the directories it is from. */
  readonly member: number;
  readonly settings: RequestSettings;
  /** Null when its end is not known. */
  readonly endedAt: number | null;
  /** The status, or the cause of the failure; empty when its end is not known. */
  readonly result: string;
}

/** Settings are few and requests many: a line has their number. */
export interface RunSettings {
  readonly all: RequestSettings[];
  numberOf(head: RunHead): number;
}

export const createRunSettings = (): RunSettings => {
  const all: RequestSettings[] = [];
  const numbers = new Map<string, number>();
  return {
    all,
    numberOf: ({ version, userAgent, productToken, delayMs, timeoutMs, keep }) => {
      const settings: RequestSettings = { version, userAgent, productToken, delayMs, timeoutMs, keep };
      const key = JSON.stringify(settings);
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, all.length);
      return all.push(settings) - 1;
    },
  };
};

export interface LedgerReading {
  readonly dirs: readonly string[];
  readonly runSettings: RunSettings;
  /** Null for all sites. */
  readonly site: string | null;
  readonly onDamage: (says: string) => void;
  readonly onProgress: (done: number, total: number) => void;
}

/** One line per request. */
export function* requestLines({ dirs, runSettings, site, onDamage, onProgress }: LedgerReading): Generator<string> {
  let writer = ''; // its requests come together
  let number = 0;
  let nth = 0;
  for (const [member, dir] of dirs.entries()) {
    for (const read of readLedger({
      dir: join(dir, LEDGER_DIR),
      onDamage: (says) => onDamage(`${dir}: ${says}`),
      onProgress,
    })) {
      if (site !== null && read.request.site !== site) continue;
      const { run, thread } = read.head;
      if (writer !== `${member} ${run} ${thread}`) [writer, number] = [`${member} ${run} ${thread}`, number + 1];
      yield requestLine(read, { member, writer: number, settings: runSettings.numberOf(read.head), nth: nth++ });
    }
  }
}

/** Sorts requests after the robots.txt of their site, in the order of time. */
const REQUEST_MARK = '1';

const requestLine = (
  { request, end }: ReadRequest,
  { member, writer, settings, nth }: { member: number; writer: number; settings: number; nth: number },
): string => {
  const rest = [
    member,
    writer,
    settings,
    request.lease,
    request.kind,
    request.delayMs,
    request.restMs,
    request.rules,
    request.address,
    request.url,
    end ? request.at + end.tookMs : null,
    end?.result ?? '',
    ...(request.rule ? [ruleText(request.rule)] : []),
  ];
  return sortable({ site: request.site, mark: REQUEST_MARK, at: request.at, nth, rest });
};

export interface Sortable {
  readonly site: string;
  readonly mark: string;
  readonly at: number;
  /** The order of what happened within one millisecond: a page may follow its robots.txt that soon. */
  readonly nth: number;
  readonly rest: readonly unknown[];
}

/** A line of the sort: its site first, then robots.txt before requests, then time. */
export const sortable = ({ site, mark, at, nth, rest }: Sortable): string => {
  const order = `${String(at).padStart(15, '0')} ${String(nth).padStart(12, '0')}`;
  return `${site} ${mark} ${order} ${JSON.stringify(rest).replace(/[^\x20-\x7e]/g, escaped)}`;
};

/** The sort takes ASCII; the path of an archive may have more. */
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

export interface SortedLine {
  readonly site: string;
  readonly isRequest: boolean;
  readonly at: number;
  readonly rest: string;
}

export const readSorted = (line: string): SortedLine => {
  const siteEnd = line.indexOf(' ');
  const atEnd = line.indexOf(' ', siteEnd + 3);
  return {
    site: line.slice(0, siteEnd),
    isRequest: line[siteEnd + 1] === REQUEST_MARK,
    at: Number(line.slice(siteEnd + 3, atEnd)),
    rest: line.slice(line.indexOf(' ', atEnd + 1) + 1),
  };
};

type RequestRest = [
  number,
  number,
  number,
  number,
  NotedRequest['kind'],
  number,
  number,
  string,
  string,
  string,
  number | null,
  string,
  string?,
];

export const readRequest = ({ site, at, rest }: SortedLine, runSettings: RunSettings): AuditedRequest => {
  const [member, writer, settings, lease, kind, delayMs, restMs, rules, address, url, endedAt, result, ruled] =
    JSON.parse(rest) as RequestRest;
  const rule = ruled === undefined ? null : readRule(ruled);
  return {
    site,
    at,
    member,
    visit: `${writer} ${lease}`,
    settings: runSettings.all[settings]!,
    lease,
    kind,
    delayMs,
    restMs,
    rules,
    address,
    url,
    endedAt,
    result,
    ...(rule ? { rule } : {}),
  };
};
