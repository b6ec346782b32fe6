/** A store and an archive that can be told to fail, and calls that take their time. */

import type { Archive } from '../../src/archive/archive.ts';
import { joinSpans } from '../../src/archive/dead-list.ts';
import { StoreFault } from '../../src/contract/fault.ts';
import type { Store } from '../../src/contract/store.ts';
import type { DeadRecords } from '../../src/contract/walk.ts';
import type { WarcPlace } from '../../src/model/page.ts';
import { storeOver, type StoreCall } from '../../src/store/call.ts';
import type { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** `slow`: the answer is long on its way; `late`: the call is. `within`: something happens while the store is at it. */
export type CallFault = 'nothing' | 'before' | 'after' | 'slow' | 'late' | 'within';

export interface StoreFaults {
  /** Asked before each call of a verb: what goes wrong with it. */
  next: (verb: string) => CallFault;
  /** Carries out a call that `within` goes wrong with. */
  within?: <T>(effect: () => Promise<T>) => Promise<T>;
  slowMs: number;
  /** How long a call is on its way; the longer, the more calls share a batch. */
  callMs: number;
  /** Nothing goes to the store or comes from it before that moment. */
  cutUntil?: () => number;
  /** The process is dead, and with it its store: what was on its way never arrives. */
  isGone?: () => boolean;
  /** The store has taken a settlement of this site. */
  onSettled: (site: string) => void;
  /** It has refused one: what the visit learned is gone. */
  onRefused: (site: string) => void;
  /** The store had no room for this link. */
  onForgotten: (url: string) => void;
}

const REPLY_MS = 1;

const fault = (verb: string): StoreFault => new StoreFault(`the store was told to fail in ${verb}`, 'resume');

/** Every verb goes through here: on its way, its effect, its reply. Whoever waits may be dead by then. */
export const faultyStore = (store: Store, clock: VirtualClock, faults: StoreFaults): Store => {
  const settle: Store['settle'] = async (settlements) => {
    const settled = await store.settle(settlements);
    if (settled.refused === 0) for (const { site } of settlements) faults.onSettled(site);
    for (const at of settled.refusedAt ?? []) faults.onRefused(settlements[at]!.site);
    return settled;
  };
  const admit: Store['admit'] = async (links, siteWaitingMax) => {
    const admitted = await store.admit(links, siteWaitingMax);
    for (const { url, site } of links) if (admitted.full.includes(site)) faults.onForgotten(url);
    return admitted;
  };
  const passable = async (): Promise<void> => {
    while (clock.now() < (faults.cutUntil?.() ?? 0)) await clock.sleep(faults.cutUntil!() - clock.now());
  };
  const through = async <T>(verb: string, effect: () => Promise<T>): Promise<T> => {
    const what = faults.next(verb);
    await clock.sleep(what === 'late' ? faults.slowMs : faults.callMs);
    await passable();
    if (faults.isGone?.()) return new Promise(() => {});
    if (what === 'before') throw fault(verb);
    const result = await (what === 'within' && faults.within ? faults.within(effect) : effect());
    await clock.sleep(what === 'slow' ? faults.slowMs : REPLY_MS);
    await passable();
    if (what === 'after') throw fault(verb);
    return result;
  };
  return {
    admit: (links, siteWaitingMax) => through('admit', () => admit(links, siteWaitingMax)),
    claim: (ask) => through('claim', () => store.claim(ask)),
    settle: (settlements) => through('settle', () => settle(settlements)),
    steer: (changes) => through('steer', () => store.steer(changes)),
    census: () => through('census', () => store.census()),
    beat: () => through('beat', () => store.beat()),
    journal: (after) => through('journal', () => store.journal(after)),
    rules: (digest, site) => through('rules', () => store.rules(digest, site)),
    close: () => store.close(),
  };
};

/** A store outside of the simulation: time stands still while it is at work. */
export const standing = (store: Store, clock: VirtualClock): Store => ({
  admit: (links, siteWaitingMax) => clock.standFor(store.admit(links, siteWaitingMax)),
  claim: (ask) => clock.standFor(store.claim(ask)),
  settle: (settlements) => clock.standFor(store.settle(settlements)),
  steer: (changes) => clock.standFor(store.steer(changes)),
  census: () => clock.standFor(store.census()),
  beat: () => clock.standFor(store.beat()),
  journal: (after) => clock.standFor(store.journal(after)),
  rules: (digest, site) => clock.standFor(store.rules(digest, site)),
  close: () => clock.standFor(store.close()),
});

/** As the store thread does: calls that come within some milliseconds share one transaction, and its fate. */
export const gathering = (store: SqliteStore, clock: VirtualClock): Store => {
  const GATHER_MS = 5;
  let queue: { call: StoreCall; resolve: (value: unknown) => void; reject: (error: unknown) => void }[] = [];
  const drain = (): void => {
    const batch = queue;
    queue = [];
    try {
      const results = store.together(batch.map(({ call }) => call));
      batch.forEach(({ resolve }, i) => resolve(results[i]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const send = <T>(call: StoreCall): Promise<T> =>
    new Promise((resolve, reject) => {
      if (queue.length === 0) void clock.sleep(GATHER_MS).then(drain);
      queue.push({ call, resolve: resolve as (value: unknown) => void, reject });
    });
  return storeOver(send, () => store.close());
};

export interface FaultyArchive extends Archive {
  /**
   * `full`: the disk is. `full-once`: it was for a moment. `die`: the process ends after the bytes are written, before
   * anything knows of them.
   */
  state: 'well' | 'full' | 'full-once' | 'die';
  /** Every record that lies in it, in order, without those that are dead. */
  records(dead?: readonly DeadRecords[]): string[];
  /** What lies there; empty for a place in another file. */
  recordAt(place: WarcPlace): string;
  onDeath: () => void;
}

/** Records are lines of text; the archive outlives the processes that append to it. */
export const createFaultyArchive = (file = 'archive'): FaultyArchive => {
  let bytes = Buffer.alloc(0);
  let length = 0;
  const archive: FaultyArchive = {
    state: 'well',
    onDeath: () => {},
    append: (records) => {
      if (archive.state === 'full' || archive.state === 'full-once') {
        if (archive.state === 'full-once') archive.state = 'well';
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      }
      const places = records.map((record) => {
        if (length + record.length > bytes.length)
          bytes = Buffer.concat([bytes.subarray(0, length), Buffer.alloc(Math.max(4096, length + record.length))]);
        bytes.set(record, length);
        const offset = length;
        length += record.length;
        return { file, offset };
      });
      if (archive.state === 'die') {
        archive.onDeath();
        throw new Error('the process is dead');
      }
      return places;
    },
    end: () => ({ file: length === 0 ? '' : file, bytes: length }),
    cut: (end) => {
      if (archive.state !== 'die') length = Math.min(length, end.bytes); // the dead cut nothing
    },
    sync: () => {},
    close: () => {},
    records: (dead = []) => {
      let at = 0;
      let text = '';
      for (const { offset, bytes: deadBytes } of joinSpans(dead.map((span) => ({ ...span, why: '' })))) {
        text += bytes.toString('utf8', at, offset);
        at = offset + deadBytes;
      }
      return (text + bytes.toString('utf8', at, length)).split('\n').filter(Boolean);
    },
    recordAt: ({ warc_file, warc_offset, warc_length }) =>
      warc_file === file ? bytes.toString('utf8', warc_offset, Math.min(length, warc_offset + warc_length)) : '',
  };
  return archive;
};
