/**
 * Was the crawl polite, and was every page allowed? Recomputed from the ledger and the archived robots.txt, without the
 * store: requests and robots.txt files are sorted by site and time, on disk where they are many, and judged as they
 * come.
 */

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LineSorter } from '../lib/sort-lines.ts';
import { LEDGER_DIR } from '../ledger/format.ts';
import { archiveBytes, readArchivedRobots, readRobots } from './audit/archived-robots.ts';
import { createRunSettings, readRequest, readSorted, requestLines, type RunSettings } from './audit/requests.ts';
import { noFindings, type Findings } from './audit/findings.ts';
import { beginSite, judgeRequest, type SiteHistory } from './audit/judge-site.ts';
import { keepArchived, type Excuse } from './audit/judge-robots.ts';
import { createTally, type SiteTally, type Tallying } from './audit/site-tally.ts';
import { plural } from '../lib/units.ts';
import { checkFixed, type Identity } from '../folder/folder.ts';
import { identitiesOf } from '../folder/gathering.ts';
import { whereIs, type Others } from '../folder/roster.ts';

export interface AuditOptions {
  /** The directories of a crawl: of all its members where its store is shared. */
  readonly dirs: readonly string[];
  /** Who else took part: what only they can prove is not judged. */
  readonly others: Others;
  /** One site only, with what its owner may want to know. */
  readonly site: string | null;
  readonly onProgress: (progress: AuditProgress) => void;
}

export interface AuditProgress {
  readonly phase: 'ledger' | 'archive' | 'judging';
  readonly done: number;
  /** 0 when it is not known. */
  readonly total: number;
}

export interface AuditReport {
  readonly requests: number;
  readonly visits: number;
  readonly sites: number;
  /** Requests to sites that a rule says are one's own, and those of them for which no robots.txt was asked. */
  readonly own: number;
  readonly robotsIgnored: number;
  readonly findings: Findings;
  /** Parts of the ledger or of the archive that cannot be read. */
  readonly damage: readonly string[];
  /** What a reader must know to judge the result. */
  readonly remarks: readonly string[];
  readonly tally: SiteTally | null;
}

/** Parts that cannot be read that are named; one file can have few of them. */
const DAMAGE_NAMED_MAX = 100;
const REQUESTS_PER_LOOK = 10_000;

export const auditCrawl = async (options: AuditOptions): Promise<AuditReport> => {
  const identities = identitiesOf(options.dirs);
  for (const [i, identity] of identities.entries()) checkFixed(options.dirs[i]!, identity);
  const damage: string[] = [];
  const onDamage = (says: string): void => void (damage.length < DAMAGE_NAMED_MAX && damage.push(says));
  for (const dir of options.dirs) if (!existsSync(join(dir, LEDGER_DIR))) onDamage(missing(dir, identities));
  const runSettings = createRunSettings();
  const sorter = new LineSorter({ dir: tmpdir() });
  try {
    await gather({ options, runSettings, sorter, onDamage });
    return {
      ...(await judge({
        options,
        runSettings,
        sorter,
        excuse: excuseOf({ identities, others: options.others, damage }),
      })),
      damage,
      remarks: remarksOn(identities, options.others),
    };
  } finally {
    sorter.close();
  }
};

const missing = (dir: string, identities: readonly Identity[]): string =>
  identities.some(({ settings }) => settings.ledger === 'off')
    ? `"${dir}" has no ledger: it is off (--ledger off), so the requests of this crawl cannot be audited`
    : `"${dir}" has no ledger: no request was sent yet, the ledger was off, or its folder "${LEDGER_DIR}" was removed`;

const remarksOn = (identities: readonly Identity[], { missing, unknown }: Others): string[] => [
  ...(identities.some(({ unnoted }) => unnoted)
    ? ['the ledger was off in a run of this crawl: the requests of that run are not in it']
    : []),
  ...(missing.length > 0
    ? [
        `${plural(missing.length, 'member')} of this crawl ${missing.length === 1 ? 'is' : 'are'} not given, and ${missing.length === 1 ? 'its' : 'their'} requests are not judged: give ${missing.length === 1 ? 'its directory' : 'their directories'}, too (${missing.map(whereIs).join(', ')})`,
      ]
    : []),
  ...(unknown === null
    ? []
    : [
        `the store could not be asked who else takes part in this crawl (${unknown}): only the requests of what is given are judged`,
      ]),
];

interface Circumstances {
  readonly identities: readonly Identity[];
  readonly others: Others;
  readonly damage: readonly string[];
}

/** Why a robots.txt may have been read though neither ledger nor archive have it. */
const excuseOf = ({ identities, others, damage }: Circumstances): Excuse => {
  if (identities.some(({ unnoted }) => unnoted)) return 'ledger-was-off';
  if (others.missing.length > 0 || others.unknown !== null) return 'other-member';
  return damage.length > 0 ? 'archive-damaged' : null;
};

interface Gathering {
  readonly options: AuditOptions;
  readonly runSettings: RunSettings;
  readonly sorter: LineSorter;
  readonly onDamage: (says: string) => void;
}

/** The ledgers first: they say for which product tokens a robots.txt has to be read. */
const gather = async ({
  options: { dirs, site, onProgress },
  runSettings,
  sorter,
  onDamage,
}: Gathering): Promise<void> => {
  let read = 0;
  for (const line of requestLines({
    dirs,
    runSettings,
    site,
    onDamage,
    onProgress: (done, total) => onProgress({ phase: 'ledger', done, total }),
  })) {
    sorter.add(line);
    if (++read % REQUESTS_PER_LOOK === 0) await setImmediate();
  }
  const tokens = [...new Set(runSettings.all.map(({ productToken }) => productToken))];
  const total = dirs.reduce((sum, dir) => sum + archiveBytes(dir), 0);
  let done = 0;
  for (const dir of dirs) {
    await readArchivedRobots({
      dir,
      tokens,
      site,
      onDamage,
      take: (line) => sorter.add(line),
      onProgress: (bytes) => onProgress({ phase: 'archive', done: (done += bytes), total }),
    });
  }
};

const textOf = (chunk: Uint8Array | string): string =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');

interface JudgingAll extends Omit<Gathering, 'onDamage'> {
  readonly excuse: Excuse;
}

const judge = async ({
  options,
  runSettings,
  sorter,
  excuse,
}: JudgingAll): Promise<
  Pick<AuditReport, 'requests' | 'visits' | 'sites' | 'own' | 'robotsIgnored' | 'findings' | 'tally'>
> => {
  const sums = { requests: 0, visits: 0, sites: 0, own: 0, robotsIgnored: 0 };
  const findings = noFindings();
  const tallying: Tallying | null = options.site === null ? null : createTally(options.site);
  const judging = { findings, excuse, ...(tallying ? { onGap: tallying.onGap } : {}) };
  let history: SiteHistory | null = null;
  const close = (): void => {
    if (!history) return;
    sums.visits += history.visits;
    if (history.visits > 0) sums.sites++;
    tallying?.close(history);
  };
  for (const chunk of sorter.sorted()) {
    for (const text of textOf(chunk).split('\n').slice(0, -1)) {
      const line = readSorted(text);
      if (history?.site !== line.site) {
        close();
        history = beginSite(line.site);
      }
      if (!line.isRequest) {
        keepArchived(history.robots, readRobots(line));
        continue;
      }
      const request = readRequest(line, runSettings);
      sums.requests++;
      if (request.rule?.own) sums.own++;
      if (request.rule?.robotsIgnored) sums.robotsIgnored++;
      tallying?.onRequest(request);
      judgeRequest(history, request, judging);
    }
    options.onProgress({ phase: 'judging', done: sums.requests, total: 0 });
    await setImmediate();
  }
  close();
  return { ...sums, findings, tally: tallying?.tally ?? null };
};
