/**
 * Meets every link of a crawl once and counts: is each in exactly one state, and do the counters and the set of known
 * URLs say the same?
 *
 * Memory: 12 bytes per URL ever seen (their fingerprints), 36 per site (the names of its keys), and what some thousand
 * rows take.
 *
 * Pages that other members settled are not at hand: counters say how many there are, and that many known URLs must be
 * left when all others were met. Which ones they are cannot be checked from here; each member's own check does that.
 */

import { createFingerprintTable } from '../../lib/fingerprint-table.ts';
import { writeCount } from '../../lib/units.ts';
import { settledTotal, type Census } from '../../model/census.ts';
import { ANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { WRONG_NAMED_MAX, type MemberRows, type SharedSurvey } from '../shared-crawl.ts';
import { census } from './census.ts';
import type { Look } from './look.ts';
import { openLineReader } from './read-lines.ts';
import { openSettledRows, placedIn } from './settled-rows.ts';
import { count, ofShard, type Course } from './survey-course.ts';
import { readSeen } from './survey-seen.ts';
import { surveyFiles, surveyKeys } from './survey-keys.ts';
import { surveyShard } from './survey-sites.ts';

const PROGRESS_EVERY = 1_000;

export const surveyOf = async (
  look: Look,
  member: MemberRows,
  onProgress: (linksDone: number) => void,
): Promise<SharedSurvey> => {
  const rows = await openSettledRows(look, member);
  const lines = openLineReader(member.rowsPath);
  try {
    const shards = await look.shards();
    const counted = await census({ wire: look.wire, shards, end: rows.end });
    const known = counted.waiting + counted.leased + counted.parked + counted.held + settledTotal(counted);
    // with room for all: a table that grows leaves its former rooms to the garbage collector
    const seen = createFingerprintTable(known);
    const wrong: string[] = [];
    let wrongTotal = 0;
    let unnamed = 0;
    let links = 0;
    const suspects: Suspect[] = [];
    const course: Course = {
      look,
      shards,
      rows,
      lines,
      counted: new Map(),
      referred: new Map(),
      keys: createFingerprintTable(2 * counted.sites.known),
      isAlone: rows.others.length === 0,
      wrong: (says) => {
        if (++wrongTotal <= WRONG_NAMED_MAX) wrong.push(says);
      },
      meet: (url, site, settled = false) => {
        if (++links % PROGRESS_EVERY === 0) onProgress(links);
        if (seen.remove(ofShard(fingerprint(url), shardOf(site, shards)))) return;
        if (suspects.length < WRONG_NAMED_MAX) suspects.push({ url, site, settled });
        else unnamed++;
      },
    };
    for (let shard = 0; shard < shards; shard++) {
      await readSeen(course, shard, seen);
      await surveyShard(course, shard);
    }
    const inOrder = surveyPages(course);
    await surveyKeys(course, member.member);
    await surveyFiles(course);
    await judge(course, suspects);
    const elsewhere = compare(course, counted, seen.size);
    return {
      links: links + elsewhere,
      census: counted,
      wrong,
      wrongTotal: wrongTotal + unnamed,
      placed: placedIn(member.rowsPath, { inOrder, skipped: rows.skipped }),
      end: rows.end,
      dead: rows.dead,
    };
  } finally {
    lines.close();
    rows.close();
  }
};

/** Whether this member's pages are in the order of their places. */
const surveyPages = ({ rows, counted, wrong, meet }: Course): boolean => {
  let inOrder = true;
  let last = { file: '', offset: 0 };
  for (const [, site, urlKey, url, outcome, file, offset] of rows.brief()) {
    meet(url, site, true);
    count(counted, `settled:${outcome}`);
    const page = `the page ${url} is not right`;
    if (Number(fingerprint(url) >> 11n) !== urlKey) wrong(`${page}: its row has the key of another URL`);
    else if (!(outcome in ANSWERED_OUTCOMES) && file !== null)
      wrong(`${page}: its outcome is ${outcome}, but it has a record`);
    if (file === null) continue;
    inOrder &&= file > last.file || (file === last.file && offset >= last.offset);
    last = { file, offset };
  }
  return inOrder;
};

/** A link whose fingerprint was not there: met before, or never known. */
interface Suspect {
  readonly url: string;
  readonly site: string;
  readonly settled: boolean;
}

const judge = async ({ look, shards, wrong }: Course, suspects: readonly Suspect[]): Promise<void> => {
  for (const { url, site, settled } of suspects) {
    const [answer] = (await look.wire.all([
      {
        name: 'link',
        shard: shardOf(site, shards),
        args: [site, url, String(BigInt.asIntN(64, fingerprint(url))), 0, 0],
      },
    ])) as [[unknown, unknown, known: number]];
    if (answer[2] === 0) wrong(`${url} is not in the set of known URLs`);
    else
      wrong(
        `${url} is there twice: ${settled ? 'it is settled twice, or it waits or is leased too' : 'it waits or is leased, and is somewhere else too'}`,
      );
  }
};

/** What counters are called in a sentence. */
const NAMES: Readonly<Record<string, string>> = { sitesParked: 'sites parked', sitesHeld: 'sites held' };

/** Compares what was counted with what the counters say; gives how many links other members have settled. */
const compare = ({ counted, isAlone, wrong }: Course, { sites, settled, ...said }: Census, left: number): number => {
  const counters = new Map<string, number>([
    ['sites', sites.known],
    ['sitesParked', sites.parked],
    ['sitesHeld', sites.held],
  ]);
  for (const name of ['waiting', 'leased', 'parked', 'held', 'pages'] as const) counters.set(name, said[name]);
  for (const [outcome, n] of Object.entries(settled)) counters.set(`settled:${outcome}`, n);
  let elsewhere = 0;
  for (const name of new Set([...counters.keys(), ...counted.keys()])) {
    const [says, is] = [counters.get(name) ?? 0, counted.get(name) ?? 0];
    const isElsewhere = !isAlone && name.startsWith('settled:') && says > is;
    if (isElsewhere) elsewhere += says - is;
    else if (says !== is)
      wrong(
        `the counter "${NAMES[name] ?? name.replace(':', ' ')}" says ${writeCount(says)}, but there are ${writeCount(is)}`,
      );
  }
  if (left !== elsewhere) {
    wrong(
      isAlone
        ? `${writeCount(left)} known ${left === 1 ? 'URL is' : 'URLs are'} neither waiting nor leased, parked, held or settled`
        : `${writeCount(left)} known ${left === 1 ? 'URL is' : 'URLs are'} neither waiting nor leased, parked, held or settled here, but other members settled ${writeCount(elsewhere)}`,
    );
  }
  return elsewhere;
};
