/** This member lives: it says so, learns what it should know of the crawl, and does what nobody else can. */

import type { Beat, MemberAbout } from '../../contract/journal.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreFault } from '../../contract/fault.ts';
import { DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../../model/pulse.ts';
import { writeEntry } from './journal.ts';
import { openMoved } from './moved.ts';
import { doubt, isNews, mend } from './put-right.ts';
import type { Session } from './session.ts';
import { free } from './steer.ts';

type DeadMember = readonly [member: string, runs: string, record: string];
type BeatAnswer = readonly [
  now: string,
  entry: number,
  live: readonly string[],
  dead: readonly DeadMember[],
  shut: readonly string[],
  isThere: number,
  tick: number,
  changed: readonly string[],
];

/** A beat is answered after this, though what it had to do is not done: the next ones wait for it, too. */
const UPKEEP_MS_MAX = 500;

/**
 * The time that counts is when the beat was sent that was answered: what is lost on the way is sent anew, and is
 * another beat.
 */
const send = async (session: Session, about: MemberAbout | null): Promise<{ answer: BeatAnswer; sentAt: number }> => {
  const { wire, book, voids, hints } = session;
  for (;;) {
    const sentAt = hints.now();
    const opened = [...session.opened];
    const args = [[...voids, book.run()].join(','), about ? JSON.stringify(about) : '', DEAD_AFTER_MS];
    const news = [...hints.news];
    args.push([...hints.shut].join(' '), opened.join(' '), news.join(' '), session.tick);
    const [answer] = await wire.once([{ name: 'beat', shard: null, args }]);
    if (answer!.kind === 'refused') throw answer!.fault;
    if (answer!.kind === 'answered') {
      for (const shard of opened) session.opened.delete(shard);
      for (const shard of news) hints.news.delete(shard);
      session.tick = (answer!.value as BeatAnswer)[6];
      return { answer: whole(answer!.value as BeatAnswer), sentAt };
    }
    await wire.read(null, ['EXISTS', 'meta']); // until it is back
  }
};

/** A server that lost everything must not be taken for a new crawl. */
const whole = (answer: BeatAnswer): BeatAnswer => {
  if (answer[5] === 1) return answer;
  throw new StoreFault(
    'Redis does not know this crawl any more',
    'restore its data from a copy, or begin a new crawl: the pages of this directory stay readable',
  );
};

/** The first of a process tells what it is. */
export const firstBeat = async (session: Session, about: MemberAbout | null): Promise<void> => {
  const { answer, sentAt } = await send(session, about);
  session.beatAtMs = sentAt;
  session.entry = answer[1];
};

export const beat = async (session: Session): Promise<Beat> => {
  const { answer, sentAt } = await send(session, null);
  const [, entry, , , shut, , , changed] = answer;
  session.hints.heard(changed.map(Number));
  if (shut.length > 0) await doubt(session, shut.map(Number));
  await openMoved(session);
  // Others may have taken this member for dead meanwhile, or a shard has forgotten its leases: what it held is void,
  // whatever the store says of it.
  if (isNews(session) || sentAt - session.beatAtMs > LAPSED_AFTER_MS) lapse(session);
  session.beatAtMs = sentAt;
  session.upkeep ??= upkeep(session, answer).finally(() => void (session.upkeep = null));
  await Promise.race([session.upkeep, sleep(UPKEEP_MS_MAX, null, { ref: false })]);
  session.entry = Math.max(entry, session.entry);
  return { entry: session.entry, term: session.book.term() };
};

/** What nobody else can do, in this order; it goes as far as it can, and the next beat goes on. */
const upkeep = async (session: Session, [, entry, live, dead]: BeatAnswer): Promise<void> => {
  await writeAgain(session, entry);
  await freeVoid(session);
  for (const one of dead) await bury(session, one);
  // While a visit of before is under way nothing is said to be right.
  if (session.voids.length === 0) await mend(session, live);
  await touch(session);
};

/** All shards in so many beats: links that were sent are remembered for longer than that. */
const BEATS_PER_ROUND = 30;

/** Some shards in turn: of each it is known when it was alive last, and one that went back is found. */
const touch = async (session: Session): Promise<void> => {
  const { wire, hints, shards } = session;
  const some = Array.from(
    { length: Math.ceil(shards / BEATS_PER_ROUND) },
    (_, i) => (session.touched + i) % shards,
  ).filter((shard) => !hints.shut.has(shard));
  session.touched = (session.touched + Math.ceil(shards / BEATS_PER_ROUND)) % shards;
  const states = await wire.all(some.map((shard) => ({ name: 'touch', shard, args: [hints.stamp(shard)] })));
  for (const [i, shard] of some.entries()) if (states[i] !== '+') hints.doubt(shard);
};

/** Entries that the store has forgotten are written again, in their order, by whoever has met them. */
const writeAgain = async ({ wire, entries, entry: known }: Session, last: number): Promise<void> => {
  if (last >= known) return;
  const lost = [...entries].filter(([number]) => number > last).sort(([a], [b]) => a - b);
  for (const [, entry] of lost) await writeEntry(wire, entry);
};

const lapse = (session: Session): void => {
  session.voids = [...session.voids, session.book.run()];
  session.book.lapse();
};

/** When the last visit of an earlier term has ended, its leases are freed: uncounted, because nobody died of them. */
const freeVoid = async (session: Session): Promise<void> => {
  const { voids, book } = session;
  if (voids.length === 0 || session.claims > 0 || !book.isQuiet()) return;
  await free(session, { runs: voids, holder: '', counted: false, culprit: null });
  session.voids = session.voids.filter((run) => !voids.includes(run));
};

/** Frees what a dead member held, then notes that: repeated by whoever finds it half done. */
const bury = async (session: Session, [of, runs, record]: DeadMember): Promise<void> => {
  await free(session, { of, runs: runs.split(','), holder: '', counted: true, culprit: null });
  await session.wire.all([{ name: 'freed', shard: null, args: [of, record] }]);
};
