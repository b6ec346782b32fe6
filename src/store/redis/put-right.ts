/**
 * Puts right what a shard forgot when it went back in time, as far as this member can.
 *
 * A replica that lags takes over, or a server starts again without its last moments: settlements, clocks, leases and
 * links of the shard are then those of an earlier moment. The shard is the truth: what it forgot, its members forget
 * too. While it is shut nobody claims or settles there; when all members that live have done this, it is opened, and no
 * site is visited before it has waited in full.
 */

import { DEAD_AFTER_MS } from '../../model/pulse.ts';
import { shardOf } from '../../url/shard.ts';
import type { Link } from '../../model/link.ts';
import type { PageRow } from '../../model/page.ts';
import type { Part } from './rows.ts';
import type { Session } from './session.ts';
import { free } from './steer.ts';
import type { LastSettled } from './unsettled.ts';
import type { Step } from './wire.ts';

/** `ready`, as it answers. */
interface Ready {
  readonly isOpen: boolean;
  readonly epoch: number;
  readonly server: string;
  readonly now: number;
  /** The moment that the shard went back to since the epoch that this member knows; null when it did not. */
  readonly since: number | null;
  readonly changes: number;
}

type ReadyAnswer = readonly [
  state: 'open' | 'shut',
  epoch: string,
  server: string,
  now: string,
  since: string,
  changes: number,
];

/** To reach back so much further: links are admitted some time before their page is settled. */
const MARGIN_MS = 60_000;

const tellReady = async (
  { wire, hints }: Pick<Session, 'wire' | 'hints'>,
  shards: readonly number[],
  live: readonly string[],
): Promise<Map<number, Ready>> => {
  const steps = shards.map(
    (shard): Step => ({
      name: 'ready',
      shard,
      args: [`${hints.epoch(shard)} 0`, live.join(' '), DEAD_AFTER_MS],
    }),
  );
  const answers = (await wire.all(steps)) as ReadyAnswer[];
  return new Map(
    answers.map(([state, epoch, server, now, since, changes], i) => [
      shards[i]!,
      {
        isOpen: state === 'open',
        epoch: Number(epoch),
        server,
        now: Number(now),
        since: since === '' ? null : Number(since),
        changes: Number(changes),
      },
    ]),
  );
};

/** Each beat goes as far as it can. Nothing of an earlier term may be under way. */
export const mend = async (session: Session, live: readonly string[]): Promise<void> => {
  const { hints, mending } = session;
  const shut = [...hints.shut];
  if (shut.length === 0) return;
  // Everything is done before the shard hears that this member is ready: so it asks first which server that is.
  const before = await look(session, shut);
  const undone = shut.filter((shard) => mending.get(shard)?.doneFor !== before.get(shard)!.server);
  if (undone.length > 0) {
    await forget(session, undone);
    for (const shard of undone) {
      const { server, since, now, changes } = before.get(shard)!;
      const isWhole = since === null || session.lately.reaches(now - since);
      if (!isWhole)
        session.say(
          `a part of the crawl in Redis went back ${Math.round((now - since) / 1_000)} s, further than links are remembered: stop this process and resume, so that its pages are read again`,
        );
      mending.set(shard, { doneFor: server, isWhole });
      hints.adopt(shard, hints.epoch(shard), changes);
    }
  }
  for (const [shard, { isOpen, epoch, server }] of await tellReady(session, shut, live)) {
    const done = mending.get(shard);
    if (!isOpen || done?.doneFor !== server) continue;
    hints.adopt(shard, epoch, 0);
    hints.open(shard);
    mending.delete(shard);
    session.opened.add(shard);
    if (session.forgotSince === null && done.isWhole) session.rows.keepEpochs([[shard, epoch]]);
  }
};

/** The server that each shard is on, and what it knows of its past; not that this member is ready. */
const look = (session: Session, shards: readonly number[]): Promise<Map<number, Ready>> =>
  tellReady(session, shards, []);

/** Others say that these shards went back: those are meant that did so since this member took part. */
export const doubt = async (session: Session, shards: readonly number[]): Promise<void> => {
  const { hints } = session;
  const news = shards.filter((shard) => !hints.shut.has(shard));
  for (const [shard, { isOpen, epoch }] of await look(session, news))
    if (!isOpen || epoch !== hints.epoch(shard)) hints.doubt(shard);
};

/** True when a shard was found that went back, and of which nothing was known before. */
export const isNews = ({ hints, mending }: Session): boolean => {
  const fresh = [...hints.shut].filter((shard) => !mending.has(shard));
  for (const shard of fresh) mending.set(shard, { doneFor: null, isWhole: true });
  return fresh.length > 0;
};

/** Rows, records and links, in this order; each part may be repeated. */
const forget = async (session: Session, shards: readonly number[]): Promise<void> => {
  const pages = await session.inTurn(async () => {
    const known = await free(session, { shards, holder: '', counted: false, culprit: null });
    return forgetRows(session, known);
  });
  await session.queue.admit(pages.map(toLink), null);
  for (const { links, siteWaitingMax } of session.lately.batches()) {
    const there = links.filter(({ site }) => shards.includes(shardOf(site, session.shards)));
    if (there.length > 0) await session.queue.admit(there, siteWaitingMax);
  }
};

/** Takes rows back that the shards do not know; their records are listed, and never cut. */
export const forgetRows = (
  session: Pick<Session, 'rows' | 'dead'>,
  known: ReadonlyMap<number, LastSettled>,
): PageRow[] => {
  const { rows, dead } = session;
  const forgotten = [...known].map(([shard, settled]) => rows.forget(shard, settled));
  const records = forgotten.flatMap((one) => one.records);
  if (records.length > 0) dead(records, 'forgotten');
  // What is left of the last batch is cut by a start, if its shard does not know it.
  const last = rows.last();
  const isKept = ({ shard }: Part): boolean => (known.get(shard)?.number ?? Infinity) >= last!.number;
  if (last && !last.parts.every(isKept)) rows.reduce({ ...last, parts: last.parts.filter(isKept) }, []);
  return forgotten.flatMap(({ pages }) => pages);
};

export const toLink = ({ url, site, depth, via }: PageRow): Link => ({
  ...{ url, site, depth, via },
  hops: 0,
  fallback: false,
  first: false,
});

/** When the crawl is opened: which epoch each shard has, and what this member missed. */
export const meetEpochs = async (session: Session): Promise<void> => {
  const { hints, rows, shards } = session;
  const known = rows.epochs();
  const all = Array.from({ length: shards }, (_, shard) => shard);
  for (const shard of all) hints.adopt(shard, known.get(shard) ?? 0, 0);
  let since = Infinity;
  for (const [shard, ready] of await look(session, all)) {
    if (known.size > 0 && ready.since !== null) since = Math.min(since, ready.since);
    hints.adopt(shard, ready.epoch, ready.changes);
    if (ready.isOpen) continue;
    hints.doubt(shard);
    session.mending.set(shard, { doneFor: ready.server, isWhole: true });
  }
  if (since < Infinity) session.forgotSince = Math.max(0, since - MARGIN_MS);
  else keepEpochs(session);
};

/** From now on this member has taken part in everything so far. */
export const keepEpochs = ({ rows, hints, shards }: Session): void =>
  rows.keepEpochs(Array.from({ length: shards }, (_, shard) => [shard, hints.epoch(shard)] as const));
