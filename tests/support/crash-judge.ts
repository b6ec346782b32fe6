/** Is a crawl that was hit still whole? Asked while it is stopped, and once more when it is finished. */

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isArchived } from '../../src/model/page.ts';
import { lookAt, pagesIn } from './sqlite-place.ts';
import { originSeen, type Seen } from '../../src/world/seen.ts';
import { archivedIn, countByUrl, type Archived } from './archive-check.ts';
import { runBinary } from './binary.ts';
import { compareWith, ledgerOf } from './ledger-check.ts';
import type { Stage, Status } from './stage.ts';

/** Why the crawl in this directory, which must be stopped, is not whole; empty when it is. */
export type Check = (dir: string) => Promise<string>;

export interface StoppedCheck {
  readonly name: string;
  readonly check: Check;
}

/** The binary's own check where it has one, and otherwise one from outside. */
export const chooseCheck = async (): Promise<StoppedCheck> => {
  const { code } = await runBinary(['verify', '--help']);
  return code === 0
    ? { name: 'verify', check: verified }
    : { name: 'archive check (there is no "gossamer verify" yet)', check: settledPartReads };
};

const verified: Check = async (dir) => {
  const { code, signal, stdout, stderr } = await runBinary(['verify', dir, '--json']);
  return code === 0
    ? ''
    : `verify ended with ${code ?? signal}: ${stdout.trim().slice(-2_000)} ${stderr.trim().slice(-2_000)}`;
};

/** What was appended and not settled is cut by the next start, so only the settled part must read cleanly. */
const settledPartReads: Check = async (dir) => {
  try {
    const {
      archive: { file, bytes },
    } = await lookAt(dir, (crawl) => crawl.census());
    if (file === '') return '';
    const serial = (name: string): number => Number(/-(\d+)\.warc\.gz$/.exec(name)?.[1]);
    for (const name of readdirSync(join(dir, 'warc'))) if (serial(name) > serial(file)) rmSync(join(dir, 'warc', name));
    truncateSync(join(dir, 'warc', file), bytes);
    const archived = [...countByUrl(await archivedIn(dir))].map(([url, count]) => `${count} ${url}`);
    const settled = (await pagesIn(dir)).filter(isArchived).map((page) => `1 ${page.url}`);
    const odd = [
      ...archived.filter((one) => !settled.includes(one)),
      ...settled.filter((one) => !archived.includes(one)),
    ];
    return odd.length === 0 ? '' : `the archive and the store differ about ${odd.slice(0, 5).join(', ')}`;
  } catch (error) {
    return `the stopped crawl cannot be read: ${(error as Error).message}`;
  }
};

/**
 * Keeps a copy of the crawl as it is now and checks it when asked to. The crawl can go on at once and
 * with the whole machine: a clock that was lost in a hit shows only when the next start is quick.
 */
export const keepForCheck = (dir: string, check: Check): (() => Promise<string>) => {
  const copy = mkdtempSync(join(tmpdir(), 'gossamer-crash-'));
  cpSync(dir, copy, { recursive: true });
  return async () => {
    try {
      return await check(copy);
    } finally {
      rmSync(copy, { recursive: true });
    }
  };
};

export const hasStore = ({ dir }: Stage): boolean =>
  existsSync(join(dir, 'crawl.json')) && existsSync(join(dir, 'crawl.db'));

export interface Judgement {
  readonly pages: number;
  readonly archivedOnce: number;
  readonly gaps: number;
  /** Requests in the ledger. */
  readonly noted: number;
  /** The shortest gap less the delay. */
  readonly spareMs: number;
  readonly violations: readonly string[];
}

/** The crawl is finished: every page is there once, and the small web has nothing to complain about. */
export const judgeFinished = async (stage: Stage, delayMs: number): Promise<Judgement> => {
  const violations = wrongStates(stage, await stage.status());
  const archive = judgeArchive(stage, await archivedIn(stage.dir));
  const requests = judgeRequests(stage, delayMs);
  const ledger = await judgeLedger(stage, [stage.dir]);
  return {
    ...archive,
    ...requests,
    ...ledger,
    violations: [...violations, ...archive.violations, ...requests.violations, ...ledger.violations],
  };
};

/** Every request that the small web saw is in the ledger, and the audit finds nothing wrong in it. */
export const judgeLedger = async (
  { served }: Stage,
  dirs: readonly string[],
): Promise<Pick<Judgement, 'noted' | 'violations'>> => {
  const { noted, wrong } = compareWith(ledgerOf(...dirs), served.record.requests);
  const { code, signal, stdout, stderr } = await runBinary(['audit', ...dirs]);
  return {
    noted,
    violations:
      code === 0
        ? wrong
        : [
            ...wrong,
            `audit ended with ${code ?? signal}: ${stdout.trim().slice(-2_000)} ${stderr.trim().slice(-2_000)}`,
          ],
  };
};

/** Every link that can be settled is. */
export const wrongStates = ({ world }: Stage, status: Status): string[] => {
  const violations: string[] = [];
  const { waiting, leased, held, known, parked, settled, settledByOutcome } = status;
  const sum = Object.values(settledByOutcome).reduce((all, n) => all + n, 0);
  if (
    waiting + leased + held > 0 ||
    known !== parked + settled ||
    settled !== sum ||
    status.pages < world.reachable().pages.size
  )
    violations.push(`the states are ${JSON.stringify(status)}`);
  if ((settledByOutcome['gave-up'] ?? 0) + (world.plan.oddities ? 0 : parked) > 0)
    violations.push(`given up or parked: ${JSON.stringify(status)}`);
  return violations;
};

/** Every page that can be reached is archived once, and none twice. */
export const judgeArchive = (
  { world }: Stage,
  archived: readonly Archived[],
): Pick<Judgement, 'pages' | 'archivedOnce' | 'violations'> => {
  const violations: string[] = [];
  const wanted = world.reachable().pages;
  const counts = countByUrl(archived);
  for (const url of wanted) if (!counts.has(url)) violations.push(`not archived: ${url}`);
  for (const [url, count] of counts) if (count !== 1) violations.push(`archived ${count} times: ${url}`);
  return { pages: wanted.size, archivedOnce: [...wanted].filter((url) => counts.get(url) === 1).length, violations };
};

/** What the small web has to complain about. */
export const judgeRequests = (
  { served }: Stage,
  delayMs: number,
): Pick<Judgement, 'gaps' | 'spareMs' | 'violations'> => {
  const violations: string[] = [];
  const { tooEarly, overlaps, forbidden, unexpected, beforeRobots } = served.record.report({ delayMs });
  for (const gap of tooEarly) violations.push(`too early: ${JSON.stringify(gap)}`);
  for (const gap of overlaps) violations.push(`overlapping: ${JSON.stringify(gap)}`);
  for (const seen of forbidden) violations.push(`forbidden: ${JSON.stringify(seen)}`);
  for (const seen of beforeRobots) violations.push(`before its robots.txt: ${JSON.stringify(seen)}`);
  for (const url of unexpected) violations.push(`not to be found: ${url}`);
  const gaps = gapsOf(served.record.requests);
  return {
    gaps: gaps.length,
    spareMs: gaps.reduce((least, gapMs) => Math.min(least, gapMs), Infinity) - delayMs,
    violations,
  };
};

/** The times between the starts of two visits to a site, over all runs. */
const gapsOf = (requests: readonly Seen[]): number[] =>
  [
    ...Map.groupBy(
      requests.filter((seen) => !seen.exempt),
      (seen) => seen.site,
    ).values(),
  ].flatMap((seen) => {
    // A page right after the robots.txt of its origin belongs to the same visit, as does a robots.txt that was moved.
    const starts = seen.filter((one, n) => {
      const before = seen[n - 1];
      const follows = before?.kind === 'robots' && originSeen(before) === originSeen(one);
      return !follows || (one.kind === 'robots' && one.path === '/robots.txt');
    });
    return starts.slice(1).map((one, n) => one.at - (starts[n] as Seen).at);
  });
