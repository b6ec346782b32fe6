/** What became of a chaos row: by the web's own log, by the archives, and by the crawl's own commands. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDead } from '../../src/archive/dead-list.ts';
import { readRecords } from '../../src/archive/reader.ts';
import { DELAY_MS, tailOf, type Scene } from './chaos-scene.ts';
import type { Hit } from './chaos-web.ts';
import type { Status } from './stage.ts';

export interface Verdict {
  readonly requests: number;
  readonly pages: number;
  /** Visits that began less than a delay after the one before them began. */
  readonly early: readonly string[];
  /** Visits that began before the one before them had ended. */
  readonly overlaps: readonly string[];
  /** Pages that were answered whole more than once. */
  readonly askedTwice: number;
  /** Pages with more than one record that is not listed as dead. */
  readonly archivedTwice: readonly string[];
  /** Records of pages that are listed as dead. */
  readonly repeats: number;
  /** Pages of the web that were never answered, or are in no archive. */
  readonly lost: readonly string[];
  readonly damages: number;
  /** The longest time between two visits to a site. */
  readonly longestWaitMs: number;
  readonly violations: readonly string[];
}

/** How many of a kind are written out. */
const SHOWN = 5;

interface VisitSeen {
  readonly at: number;
  readonly from: string;
  readonly url: string;
  endedAt: number;
  /** It has had its page. */
  closed: boolean;
}

/** A page right after the robots.txt of its host, asked for by the same member, belongs to the same visit. */
const visitsOf = (hits: readonly Hit[]): VisitSeen[] => {
  const visits: VisitSeen[] = [];
  for (const { at, endedAt, url, robots, from } of hits) {
    const last = visits.at(-1);
    const follows =
      last && !last.closed && !robots && last.from === from && new URL(last.url).host === new URL(url).host;
    if (follows) {
      last.endedAt = Math.max(last.endedAt, endedAt ?? at);
      last.closed = true;
    } else visits.push({ at, from, url, endedAt: endedAt ?? at, closed: !robots });
  }
  return visits;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

/** Requests too early, and overlaps. */
export const judgeLog = (
  log: readonly Hit[],
  who: (address: string) => string,
): Pick<Verdict, 'requests' | 'pages' | 'early' | 'overlaps' | 'askedTwice' | 'longestWaitMs'> => {
  const early: string[] = [];
  const overlaps: string[] = [];
  const begin = log[0]?.at ?? 0;
  let longestWaitMs = 0;
  for (const [site, hits] of Map.groupBy(
    log.toSorted((a, b) => a.at - b.at),
    (hit) => hit.site,
  )) {
    let endedAt = 0;
    let before: VisitSeen | null = null;
    for (const visit of visitsOf(hits)) {
      if (before) {
        longestWaitMs = Math.max(longestWaitMs, visit.at - before.at);
        const says =
          `${site}: ${seconds(visit.at - before.at)} s after the visit before, at ${seconds(visit.at - begin)} s, ` +
          `${visit.url} by ${who(visit.from)} after ${before.url} by ${who(before.from)}`;
        if (visit.at - before.at < DELAY_MS) early.push(says);
        if (visit.at < endedAt) overlaps.push(says);
      }
      endedAt = Math.max(endedAt, visit.endedAt);
      before = visit;
    }
  }
  const whole = new Map<string, number>();
  for (const { url, whole: isWhole, robots } of log) if (isWhole && !robots) whole.set(url, (whole.get(url) ?? 0) + 1);
  return {
    requests: log.length,
    pages: whole.size,
    early,
    overlaps,
    longestWaitMs,
    askedTwice: [...whole.values()].filter((count) => count > 1).length,
  };
};

interface Archived {
  readonly living: ReadonlyMap<string, number>;
  readonly dead: number;
  readonly faults: readonly string[];
}

/** Responses of pages in these archives, without those that are listed as dead. */
export const countArchived = (dirs: readonly string[]): Archived => {
  const living = new Map<string, number>();
  const faults: string[] = [];
  let dead = 0;
  for (const dir of dirs) {
    const spans = readDead(dir);
    const warc = join(dir, 'warc');
    if (!existsSync(warc)) continue;
    for (const file of readdirSync(warc)) {
      try {
        for (const { offset, headers } of readRecords(join(warc, file))) {
          if (headers['warc-type'] !== 'response' || headers['gossamer-kind'] === 'robots') continue;
          const url = headers['warc-target-uri'] ?? '';
          if (spans.some((span) => span.file === file && span.offset <= offset && offset < span.offset + span.bytes))
            dead++;
          else living.set(url, (living.get(url) ?? 0) + 1);
        }
      } catch (error) {
        faults.push(`${file} of ${dir} cannot be read to its end: ${(error as Error).message}`);
      }
    }
  }
  return { living, dead, faults };
};

interface Verified {
  readonly damageCount: number;
  readonly damage: readonly { readonly says: string }[];
}

/** An exit code of the binary: it was asked in a wrong way. */
const WRONG_USE = 2;

/** Damages that `verify` names, over all directories together; a version that takes one at a time is given one. */
const verifyAll = async (
  scene: Scene,
  dirs: readonly string[],
): Promise<{ readonly damages: number; readonly says: string[] }> => {
  const says: string[] = [];
  let damages = 0;
  const together = await scene.gossamer('verify', ...dirs, '--json');
  const alone = together.code === WRONG_USE;
  for (const dir of alone ? dirs : ['all']) {
    const ran = alone ? await scene.gossamer('verify', dir, '--json') : together;
    const line = ran.stdout.trim();
    if (!line.startsWith('{')) {
      damages++;
      says.push(`verify of ${dir} ended with ${ran.code ?? ran.signal}: ${tailOf(ran.stdout + ran.stderr)}`);
      continue;
    }
    const { damageCount, damage } = JSON.parse(line) as Verified;
    damages += damageCount;
    for (const one of damage.slice(0, SHOWN)) says.push(`verify of ${dir}: ${one.says}`);
  }
  return { damages, says };
};

/** The ledgers of all members tell of no visit that was early, overlapping or forbidden. */
const wrongByAudit = async (scene: Scene, dirs: readonly string[]): Promise<string[]> => {
  const ran = await scene.gossamer('audit', ...dirs);
  return ran.code === 0 ? [] : [`audit ended with ${ran.code ?? ran.signal}: ${tailOf(ran.stdout + ran.stderr)}`];
};

const wrongCounters = async (scene: Scene, dir: string): Promise<string[]> => {
  const ran = await scene.gossamer('status', dir, '--json');
  if (ran.code !== 0) return [`status ended with ${ran.code ?? ran.signal}: ${tailOf(ran.stdout + ran.stderr)}`];
  const status = JSON.parse(ran.stdout) as Status;
  const { waiting, leased, parked, held, settled, pages } = status;
  const all = scene.web.ready.pages.length;
  return waiting + leased + parked + held === 0 && settled === all && pages === all
    ? []
    : [
        `status counts ${pages} pages, ${settled} settled of ${all}; ${JSON.stringify({ waiting, leased, parked, held })}`,
      ];
};

const some = (what: string, list: readonly string[]): string[] =>
  list.length === 0 ? [] : [`${list.length} ${what}, such as:`, ...list.slice(0, SHOWN).map((one) => `  ${one}`)];

/** `gone`: the directory of a member that was removed; its pages are in no archive. */
export const judge = async (scene: Scene, gone: string | null = null): Promise<Verdict> => {
  const log = await scene.web.log();
  const who = (address: string): string => {
    const member = scene.network.memberAt(address);
    return member === null ? address : `member ${member + 1}`;
  };
  const seen = judgeLog(log, who);
  const answered = new Set(log.filter(({ whole }) => whole).map(({ url }) => url));
  const { living, dead, faults } = countArchived(scene.dirs());
  const archivedTwice = [...living].filter(([, count]) => count > 1).map(([url, count]) => `${url} (${count})`);
  const lost = scene.web.ready.pages.filter((url) => !answered.has(url) || (gone === null && !living.has(url)));
  const { damages, says } = gone === null ? await verifyAll(scene, scene.dirs()) : { damages: 0, says: [] };
  const counters = await wrongCounters(scene, scene.dirs()[0]!);
  return {
    ...seen,
    archivedTwice,
    repeats: dead,
    lost,
    damages,
    violations: [
      ...scene.violations,
      ...some('requests too early', seen.early),
      ...some('overlapping visits', seen.overlaps),
      ...some('pages archived more than once', archivedTwice),
      ...some('links lost', lost),
      ...(damages > 0 ? [`${damages} damages by verify`, ...says.map((one) => `  ${one}`)] : []),
      ...faults,
      ...counters,
      ...(gone === null ? await wrongByAudit(scene, scene.dirs()) : []),
    ],
  };
};
