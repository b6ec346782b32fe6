/** Leases due sites, from several shards in rotation. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLAIMS_MAX, type Ask, type Claimed } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Visit } from '../../model/visit.ts';
import { isDue, learn, mayGive, nextDueAt, ownNow, writeGivenUp, type Book } from './book.ts';
import { fillIn, type Filled } from './claim-files.ts';
import { readWaiting } from '../link-text.ts';
import type { Answer, Call } from './wire.ts';

/** The lock around the last pages opens by itself after this, if its holder died. */
const LOCK_MS = 10_000;
/** After this its holder sends no more claims: what it has sent arrives while the lock still holds. */
const LOCK_USE_MS = 5_000;
const LOCK_WAIT_MS = 10;
/**
 * A call costs as much as several visits: where many shards have sites that are due, some of them are asked for more.
 */
const SHARDS_ENOUGH = 16;

export const claim = async (book: Book, ask: Ask): Promise<Claimed> => {
  for (;;) {
    const begunMs = ownNow(book);
    const { visits, lost, full } =
      ask.pagesMax === null ? await take(book, ask, ask.visits) : await takeLocked(book, ask, ask.pagesMax);
    // What came is visited, though other answers were lost: their leases run out by themselves.
    if (visits.length > 0 || !lost) return { visits, nextDueAt: full ? null : nextDueAt(book, ask.shards, begunMs) };
    await book.wire.back();
  }
};

interface Taken {
  readonly visits: Visit[];
  readonly lost: boolean;
  /** All pages of the crawl are fetched or under way. */
  readonly full?: boolean;
}

/**
 * Never more than there is room for, since what is claimed is visited: so the room is shared out among the shards, and
 * what some leave is shared out again. When the first give too little, the others are only looked at, all at once.
 */
const take = async (book: Book, ask: Ask, room: number, until = Infinity): Promise<Taken> => {
  const visits: Visit[] = [];
  let shards = ask.shards
    .map((_, i) => ask.shards[(book.turn + i) % ask.shards.length]!)
    .filter((shard) => mayGive(book, shard));
  const enough = shards.filter((shard) => isDue(book, shard)).length >= SHARDS_ENOUGH ? SHARDS_ENOUGH : Infinity;
  for (let round = 0; shards.length > 0 && visits.length < room && performance.now() < until; round++) {
    const left = room - visits.length;
    const onlyLook = round === 1 && shards.length > left;
    const asked = onlyLook ? shards : shards.slice(0, round === 0 ? Math.min(left, enough) : left);
    if (round === 0) book.turn = ask.shards.indexOf(asked.at(-1)!) + 1;
    const calls = asked.map((shard, i) =>
      callFor(book, ask, {
        shard,
        visits: onlyLook ? 0 : Math.floor(left / asked.length) + (i < left % asked.length ? 1 : 0),
      }),
    );
    const answers = await book.wire.once(calls);
    const haveMore: number[] = [];
    const filled =
      book.frontier &&
      (await fillIn(
        book.frontier,
        asked.map((shard, i) => ({ shard, leased: leasedIn(answers[i]!) })),
      ));
    for (const [i, answer] of answers.entries()) {
      if (answer.kind !== 'answered') continue;
      const value = answer.value as ClaimAnswer;
      const { now, dueAt, endsAt } = learn(book, asked[i]!, value);
      if (Math.min(dueAt, endsAt) <= now) haveMore.push(asked[i]!);
      visits.push(
        ...value[3].map((text, n) => visitOf(filled ? withLink(text, filled[i]![n]!) : text, Number(value[0]))),
      );
      writeGivenUp(book, asked[i]!, value[4]);
    }
    for (const { lease } of visits) book.leases.add(lease);
    const refused = answers.find(({ kind }) => kind === 'refused');
    if (refused?.kind === 'refused' && visits.length === 0) throw refused.fault;
    if (refused || answers.some(({ kind }) => kind === 'lost')) return { visits, lost: true };
    shards = [...shards.slice(asked.length), ...haveMore];
  }
  return { visits, lost: false };
};

/** One process at a time: those that count at the same moment would all find the same room. */
const takeLocked = async (book: Book, ask: Ask, pagesMax: number): Promise<Taken> => {
  const token = randomUUID();
  while ((await book.wire.all([{ name: 'lock', shard: 0, args: [token, LOCK_MS] }]))[0] !== 1)
    await sleep(LOCK_WAIT_MS);
  const until = performance.now() + LOCK_USE_MS;
  try {
    const all = Array.from({ length: book.shards }, (_, shard): Call => ({ name: 'taken', shard, args: [] }));
    const taken = (await book.wire.all(all)) as number[];
    const room = Math.min(ask.visits, pagesMax - taken.reduce((sum, n) => sum + n, 0));
    return room > 0 ? await take(book, ask, room, until) : { visits: [], lost: false, full: true };
  } finally {
    await book.wire.once([{ name: 'unlock', shard: 0, args: [token] }]).catch(() => {}); // or it opens by itself
  }
};

const callFor = (book: Book, ask: Ask, { shard, visits }: { shard: number; visits: number }): Call => ({
  name: 'claim',
  shard,
  args: [
    visits,
    ask.delayMs,
    ask.sitePagesMax ?? '',
    ask.leaseMs ?? '',
    `${book.member}/${ask.holder}`,
    book.shards,
    shard,
    CLAIMS_MAX,
  ],
});

/** Site, lease, its end, link, where it was found, dueAt, delay, crawl delay, response time, failures, rules. */
type VisitText = readonly [string, string, string, string, string, string, string, string, string, string, string];
type ClaimAnswer = readonly [
  now: string,
  dueAt: string,
  endsAt: string,
  visits: readonly VisitText[],
  givenUp: readonly string[],
];

/** The lines that a shard leased, as it names them. */
const leasedIn = (answer: Answer): string[] =>
  answer.kind === 'answered' ? (answer.value as ClaimAnswer)[3].map(([, , , line]) => line) : [];

const withLink = (text: VisitText, { line, via, rules }: Filled): VisitText =>
  text.with(3, line).with(4, via).with(10, rules) as unknown as VisitText;

const visitOf = (
  [site, lease, ends, line, via, dueAt, delayMs, crawlDelayMs, responseMs, failures, rules]: VisitText,
  now: number,
): Visit => {
  const { link, tries } = readWaiting(line, via, site);
  return {
    site,
    lease: Number(lease),
    link,
    tries,
    claimedAt: now,
    leaseUntil: ends === '' ? null : Number(ends),
    pace: {
      dueAt: Number(dueAt),
      delayMs: Number(delayMs),
      crawlDelayMs: Number(crawlDelayMs),
      responseMs: Number(responseMs),
      failures: Number(failures),
    },
    robots: rules === '' ? null : (JSON.parse(rules) as RobotsRecord),
  };
};
