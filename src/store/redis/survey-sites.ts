/** Walks the sites of a shard with their lines and leases: is what they say of themselves true? */

import { writeCount } from '../../lib/units.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { siteOf } from '../../url/site.ts';
import { rulesIn } from './pieces.ts';
import { referenceOf, referenceOfLease } from './read-lines.ts';
import { linesIn } from './reference.ts';
import { count, type Course } from './survey-course.ts';
import { walkShard, type SiteRow } from './walk.ts';

/** What is in the sorted sets, hashes and sets of a shard. */
interface Gathered {
  due: number;
  leases: number;
  parked: number;
  held: number;
}

export const surveyShard = async (course: Course, shard: number): Promise<void> => {
  const { look, wrong } = course;
  const [[sizes]] = (await look.wire.all([{ name: 'shard', shard, args: [] }])) as [
    [[sites: number, due: number, leases: number, leased: number, parked: number, held: number]],
  ];
  const gathered: Gathered = { due: 0, leases: 0, parked: 0, held: 0 };
  let waiting = 0;
  let isBroken = false;
  for await (const step of walkShard(look, shard)) {
    const { row } = step;
    switch (step.kind) {
      case 'site':
        [waiting, isBroken] = [0, false];
        break;
      case 'blocks':
        for (const [i, text] of step.blocks.entries()) {
          const element = { site: row.site, text, headAt: step.from + i === 0 ? row.headAt : 0 };
          const links = isBroken ? [] : course.lines.links(element);
          const reference = referenceOf(element);
          if (reference) count(course.referred, `${shard} ${reference.file}`, linesIn(reference));
          if (links === null) {
            isBroken = true;
            wrong(`the line of the site ${row.site} is broken: block ${step.from + i + 1} cannot be read`);
            continue;
          }
          waiting += links.length;
          for (const { link } of links) course.meet(link.url, row.site);
        }
        break;
      case 'end':
        judgeSite(course, row, { waiting, shard, gathered });
        break;
      default:
        step satisfies never;
    }
  }
  const [, due, leases, leased, parked, held] = sizes;
  const tell = (what: string, has: number, are: number): void => {
    if (has !== are) wrong(`shard ${shard} has ${writeCount(has)} ${what}, but ${writeCount(are)} sites belong there`);
  };
  tell('sites that are due', due, gathered.due);
  tell('sites with a lease', leases, gathered.leases);
  tell('leases', leased, gathered.leases);
  tell('parked sites', parked, gathered.parked);
  tell('held sites', held, gathered.held);
  await surveyRobots(course, shard);
};

interface Judged {
  readonly waiting: number;
  readonly shard: number;
  readonly gathered: Gathered;
}

const judgeSite = (course: Course, row: SiteRow, { waiting, shard, gathered }: Judged): void => {
  const { wrong, counted, rows, keys, look } = course;
  const { site, state } = row;
  const tag = look.keys.tag(shard);
  if (!keys.add(fingerprint(`${tag}site:${site}`))) return wrong(`the site ${site} is on the list of sites twice`);
  if (state === '?') return wrong(`the site ${site} is on the list of sites, but nothing is known of it`);
  if (row.blocks > 0) keys.add(fingerprint(`${tag}line:${site}`));
  count(counted, 'sites');
  count(counted, 'pages', row.pages);
  switch (state) {
    case 'p':
      count(counted, 'parked', waiting);
      count(counted, 'sitesParked');
      break;
    case 'h':
      count(counted, 'held', waiting);
      count(counted, 'sitesHeld');
      break;
    case 'l':
    case '':
      count(counted, 'waiting', waiting);
      break;
    default:
      wrong(`the site ${site} has the unknown state ${state}`);
  }
  const own = shardOf(site, course.shards);
  if (own !== shard) wrong(`the site ${site} is in shard ${shard}, but belongs to ${own}`);
  if (row.waiting !== waiting)
    wrong(`the site ${site} counts ${writeCount(row.waiting)} waiting, but has ${writeCount(waiting)}`);
  const pages = rows.answered(site);
  if (course.isAlone ? row.pages !== pages : row.pages < pages)
    wrong(`the site ${site} counts ${writeCount(row.pages)} pages, but has ${writeCount(pages)}`);
  judgePlaces(course, row, { waiting, shard, gathered });
  judgeLease(course, row, { waiting, shard, gathered });
};

/** A site is among the due ones, the parked ones or the held ones exactly when it says so itself. */
const judgePlaces = (
  { wrong }: Course,
  { site, state, due, pace, isParked, isHeld }: SiteRow,
  { waiting, gathered }: Judged,
): void => {
  const waits = state === '' && waiting > 0;
  if (due !== '') gathered.due++;
  if (isParked) gathered.parked++;
  if (isHeld) gathered.held++;
  if (waits && due === '') wrong(`links of the site ${site} wait, but it is not among those that are called`);
  else if (!waits && due !== '')
    wrong(
      `the site ${site} is among those that are called, but ${waiting > 0 ? 'is not at rest' : 'no link of it waits'}`,
    );
  else if (waits && Number(due) !== pace.dueAt) wrong(`the site ${site} is called at another moment than it says`);
  if ((state === 'p') !== isParked)
    wrong(
      `the site ${site} is ${isParked ? 'among the parked ones, but is not parked' : 'parked, but not among the parked ones'}`,
    );
  if ((state === 'h') !== isHeld)
    wrong(
      `the site ${site} is ${isHeld ? 'among the held ones, but is not held' : 'held, but not among the held ones'}`,
    );
};

const judgeLease = (
  course: Course,
  { site, state, lease, leaseEnds, isMine }: SiteRow,
  { shard, gathered }: Judged,
): void => {
  const { wrong, counted, referred, meet, lines } = course;
  if ((state === 'l') !== (lease !== ''))
    wrong(`the site ${site} is ${lease === '' ? 'leased without a link' : 'not leased, but has a leased link'}`);
  if ((lease !== '') !== (leaseEnds !== ''))
    wrong(
      `the lease of the site ${site} ${lease === '' ? 'has an end, but no link' : 'never ends: nobody looks for it'}`,
    );
  if (lease === '' && leaseEnds === '') return;
  gathered.leases++;
  if (lease === '') return;
  const reference = referenceOfLease(lease);
  if (reference) count(referred, `${shard} ${reference.file}`);
  const leased = lines.leased(lease, site);
  if (leased === null) return wrong(`the leased link of the site ${site} cannot be read`);
  count(counted, 'leased');
  meet(leased.link.url, site);
  const [, ends] = lease.split(' ', 2);
  if (leaseEnds !== '' && (ends === '-' ? leaseEnds !== 'inf' : Number(ends) !== Number(leaseEnds)))
    wrong(`the lease of the site ${site} ends at another moment than it says`);
  if (!isMine) wrong(`the site ${site} is not among those of the member that leases it`);
};

const surveyRobots = async ({ look, wrong, shards }: Course, shard: number): Promise<void> => {
  for await (const records of rulesIn(look, shard)) {
    for (const [origin, text] of records) {
      if (!isRecord(origin, text)) wrong(`the robots rules of ${origin} cannot be read`);
      else if (shardOf(siteOf(new URL(origin).hostname), shards) !== shard)
        wrong(`the robots rules of ${origin} are in shard ${shard}, where nobody looks`);
    }
  }
};

const isRecord = (origin: string, text: string): boolean => {
  try {
    return (JSON.parse(text) as { origin?: unknown }).origin === origin;
  } catch {
    return false;
  }
};
