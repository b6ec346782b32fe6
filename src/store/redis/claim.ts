/** Leases due sites, from several shards in rotation. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLAIMS_MAX, type Ask, type Claimed } from '../../contract/store.ts';
import type { CarriedRobots } from '../../model/long-rules.ts';
import type { Visit } from '../../model/visit.ts';
import { budgetsIn } from './budgets.ts';
import type { Claim, OpenClaim } from './queue.ts';
import { writeGivenUp, type Session } from './session.ts';
import { everyShard, reading, type Answer, type Step } from './wire.ts';

/** The lock around the last pages opens by itself after this, if its holder died. */
const LOCK_MS = 10_000;
/** After this its holder sends no more claims: what it has sent arrives while the lock still holds. */
const LOCK_USE_MS = 5_000;
const LOCK_WAIT_MS = 10;
/** A step costs as much as several visits: where many shards have sites that are due, some are asked for more. */
const SHARDS_ENOUGH = 16;

export const claim = async (session: Session, ask: Ask): Promise<Claimed> => {
  session.claims++;
  try {
    return await claimSome(session, ask);
  } finally {
    session.claims--;
  }
};

const claimSome = async (session: Session, ask: Ask): Promise<Claimed> => {
  for (;;) {
    const begunMs = session.hints.now();
    const term = session.book.term();
    if (session.voids.length > 0) return { visits: [], nextDueAt: null, entry: session.entry, term };
    const { visits, lost, full } =
      ask.pagesMax === null ? await take(session, ask, ask.visits) : await takeLocked(session, ask, ask.pagesMax);
    // What came is visited, though other answers were lost: their leases run out by themselves.
    if (visits.length > 0 || !lost) {
      // Those of an earlier term are void: they are freed with the others of it.
      const given = term === session.book.term() ? visits : [];
      for (const { lease } of given) session.book.given(lease, ask.holder);
      const nextDueAt = full ? null : session.hints.nextDueAt(ask.shards, begunMs);
      return { visits: given, nextDueAt, entry: session.entry, term: session.book.term() };
    }
    await session.wire.read(null, ['EXISTS', 'meta']); // until it is back
  }
};

interface Took {
  readonly visits: Visit[];
  readonly lost: boolean;
  /** All pages of the crawl are fetched or under way. */
  readonly full?: boolean;
}

/**
 * Never more than there is room for, since what is claimed is visited: so the room is shared out among the shards, and
 * what some leave is shared out again. When the first give too little, the others are only looked at, all at once.
 */
const take = async (session: Session, ask: Ask, room: number, until = Infinity): Promise<Took> => {
  const { wire, hints, book } = session;
  const term = book.term();
  const visits: Visit[] = [];
  let shards = ask.shards.map((_, i) => ask.shards[(session.turn + i) % ask.shards.length]!).filter(hints.mayGive);
  const enough = shards.filter(hints.isDue).length >= SHARDS_ENOUGH ? SHARDS_ENOUGH : Infinity;
  const isOn = (): boolean =>
    shards.length > 0 && visits.length < room && performance.now() < until && term === book.term();
  for (let round = 0; isOn(); round++) {
    const left = room - visits.length;
    const onlyLook = round === 1 && shards.length > left;
    const asked = onlyLook ? shards : shards.slice(0, round === 0 ? Math.min(left, enough) : left);
    if (round === 0) session.turn = ask.shards.indexOf(asked.at(-1)!) + 1;
    const shareOf = (i: number): number => Math.floor(left / asked.length) + (i < left % asked.length ? 1 : 0);
    const steps = asked.map((shard, i) => stepFor(session, ask, shard, onlyLook ? 0 : shareOf(i)));
    // The number of the last entry is asked for before the leases: a later one may hold for them already.
    const [entry, ...answers] = await wire.once([LAST_ENTRY, ...steps]);
    if (entry!.kind === 'answered') session.entry = (entry!.value as [number])[0];
    const { given, haveMore } = await receive(session, asked, answers);
    visits.push(...given);
    const refused = answers.find(({ kind }) => kind === 'refused');
    if (refused?.kind === 'refused' && visits.length === 0) throw refused.fault;
    if (refused || answers.some(({ kind }) => kind === 'lost')) return { visits, lost: true };
    shards = [...shards.slice(asked.length), ...haveMore];
  }
  return { visits, lost: false };
};

/** One process at a time: those that count at the same moment would all find the same room. */
const takeLocked = async (session: Session, ask: Ask, pagesMax: number): Promise<Took> => {
  const { wire, shards } = session;
  const token = randomUUID();
  const lock = (ms: number | ''): Step => ({ name: 'lock', shard: null, args: [token, ms] });
  while ((await wire.all([lock(LOCK_MS)]))[0] !== 1) await sleep(LOCK_WAIT_MS);
  const until = performance.now() + LOCK_USE_MS;
  try {
    const counted = everyShard(shards, (shard) => reading(shard, [['HMGET', 'count', 'pages', 'leased']]));
    const taken = ((await wire.all(counted)) as [(string | null)[]][]).flat(2).reduce((sum, n) => sum + Number(n), 0);
    const room = Math.min(ask.visits, pagesMax - taken);
    return room > 0 ? await take(session, ask, room, until) : { visits: [], lost: false, full: true };
  } finally {
    await wire.once([lock('')]).catch(() => {}); // or it opens by itself
  }
};

const LAST_ENTRY = reading(null, [['LLEN', 'journal']]);

const stepFor = ({ member, shards, book, hints }: Session, ask: Ask, shard: number, visits: number): Step => {
  const { delayMs, sitePagesMax, leaseMs, holder } = ask;
  const budget = sitePagesMax.all ?? '';
  const args = [hints.stamp(shard), visits, delayMs, budget, leaseMs ?? ''];
  args.push(`${member}/${holder}`, book.run(), book.take(visits), CLAIMS_MAX);
  if (sitePagesMax.sites) args.push(budgetsIn(sitePagesMax.sites, shard, shards));
  return { name: 'claim', shard, args };
};

/** Site, lease, its end, link, where it was found, dueAt, delay, crawl delay, response time, failures, rules. */
type VisitText = readonly [string, string, string, string, string, string, string, string, string, string, string];
type ClaimAnswer = readonly [moments: string, visits: readonly VisitText[], givenUp: readonly string[]];

/** Opens what came: visits, and shards that have more. */
const receive = async (session: Session, asked: readonly number[], answers: readonly Answer[]) => {
  const came = asked.flatMap((shard, i) => {
    const answer = answers[i]!;
    return answer.kind === 'answered' ? [{ shard, value: answer.value as ClaimAnswer }] : [];
  });
  const opened = await session.queue.open(came.map(claimOf));
  const given = came.flatMap(({ value }, i) =>
    value[1].map((text, n) => visitOf(text, opened[i]![n]!, Number.parseFloat(value[0]))),
  );
  const haveMore = came.flatMap(({ shard, value }) => (session.hints.learn(shard, value[0]) ? [shard] : []));
  for (const { shard, value } of came) writeGivenUp(session, shard, value[2]);
  return { given, haveMore };
};

const claimOf = ({ shard, value }: { readonly shard: number; readonly value: ClaimAnswer }): Claim => ({
  shard,
  taken: value[1].map(([site, , , text, via, , , , , , rules]) => ({ site, text, via, rules })),
});

const visitOf = (
  [site, lease, ends, , , dueAt, delayMs, crawlDelayMs, responseMs, failures]: VisitText,
  { link, tries, rules }: OpenClaim,
  now: number,
): Visit => ({
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
  robots: rules === '' ? null : (JSON.parse(rules) as CarriedRobots),
});
