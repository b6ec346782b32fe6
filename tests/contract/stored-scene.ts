/** What every behaviour of a stored crawl starts from: a crawl at work, looked at from beside, and an empty place. */

import test from 'node:test';

import type { Archive } from '../../src/archive/archive.ts';
import type { Store } from '../../src/contract/store.ts';
import type { PageSlice, StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { PageFilter, SiteQuery, SiteView } from '../../src/contract/views.ts';
import type { Found, WalkPart } from '../../src/contract/walk.ts';
import { survey, type Survey, type SurveyOptions } from '../../src/care/verify/survey.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Census } from '../../src/model/census.ts';
import type { PageRow } from '../../src/model/page.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openMemoryArchive } from '../support/memory-archive.ts';
import type { Scene } from './store-scene.ts';

/** A place for one crawl, as a test of a store makes it: new, with no crawl in it. */
export interface StoredPlace {
  /** Opens the crawl to work on it, as its only member; makes it if it is new. */
  work(): Promise<Store>;
  /** Opens the place to look at its crawl as that member, or to fill it. Makes nothing. */
  look(): Promise<StoredCrawl>;
  /** Called once, after all that was opened is closed: leave nothing behind. */
  remove?(): unknown;
}

export interface PlaceOptions {
  /** The time of the store that `work` opens. */
  readonly clock: Clock;
  /** The archive of its member, to be cut to the settled end whenever `work` opens the store. */
  readonly archive: Archive;
}

export type OpenPlace<P extends StoredPlace = StoredPlace> = (options: PlaceOptions) => P | Promise<P>;

/** All that is opened here is closed at the end. */
export interface StoredScene<P extends StoredPlace = StoredPlace> extends Scene {
  readonly place: P;
  /** Opens the crawl once more to look at it. */
  look(): Promise<StoredCrawl>;
  /** Ends the work: the store is closed, what is leased stays leased. */
  stop(): Promise<void>;
  /** A second place, without a crawl. It has the archive of the first, as a crawl that is moved keeps its archive. */
  empty(): Promise<Pick<StoredPlace, 'work' | 'look'>>;
}

export type StoredBehaviour<P extends StoredPlace = StoredPlace> = (
  title: string,
  run: (scene: StoredScene<P>) => Promise<void>,
) => void;

/** Registers tests that each get a new crawl of this kind of store. */
export const storedBehaviourOf =
  <P extends StoredPlace>(name: string, open: OpenPlace<P>): StoredBehaviour<P> =>
  (title, run) => {
    test(`${name}: ${title}`, async () => {
      const clock = createManualClock();
      const archive = openMemoryArchive();
      const opened: { close(): Promise<void> }[] = [];
      const places: P[] = [];
      const kept = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
        const one = await opening;
        opened.push(one);
        return one;
      };
      const newPlace = async (): Promise<P> => {
        const place = await open({ clock, archive });
        places.push(place);
        return place;
      };
      try {
        const place = await newPlace();
        const look = (): Promise<StoredCrawl> => kept(place.look());
        let store: Store | null = await place.work();
        const stop = async (): Promise<void> => {
          const stopped = store;
          store = null;
          await stopped?.close();
        };
        opened.push({ close: stop });
        await run({
          clock,
          archive,
          place,
          look,
          stop,
          get store() {
            if (store === null) throw new Error('the store was stopped');
            return store;
          },
          pages: async () => pagesIn(await look()),
          crash: async () => {
            await stop();
            store = await place.work();
          },
          empty: async () => {
            const second = await newPlace();
            return { look: () => kept(second.look()), work: () => kept(second.work()) };
          },
        });
      } finally {
        for (const one of opened.reverse()) await one.close();
        for (const place of places) await place.remove?.();
      }
    });
  };

export const allOf = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Slice after slice up to the end, as whoever reads all that match does; a store that stands still fails. */
export async function* slicesOf(
  crawl: StoredCrawl,
  filter: PageFilter = {},
  from = 0,
): AsyncGenerator<PageSlice, void, undefined> {
  for (let row = from, end = Infinity; row < end; ) {
    const slice = await crawl.pagesAfter(row, filter);
    yield slice;
    if (slice.row <= row && slice.row < slice.end) throw new Error(`rows ${row} to ${slice.end} are never given`);
    ({ row, end } = slice);
  }
}

export const pagesIn = async (crawl: StoredCrawl, filter: PageFilter = {}): Promise<PageRow[]> =>
  (await allOf(slicesOf(crawl, filter))).flatMap(({ pages }) => pages);

export const sitesIn = async (crawl: StoredCrawl, query: SiteQuery = {}): Promise<SiteView[]> =>
  allOf(crawl.sites(query));

export const foundIn = (crawl: StoredCrawl, parts: readonly WalkPart[]): Promise<Found[]> => allOf(crawl.walk(parts));

/** What a census says whenever it is asked: not what depends on the moment, and no outcome that nobody had. */
export const countsOf = ({ now: _, sitesDue: __, next: ___, ...census }: Census): object => ({
  ...census,
  settled: Object.fromEntries(Object.entries(census.settled).filter(([, count]) => count > 0)),
});

export const surveyOf = (crawl: StoredCrawl, options: Partial<SurveyOptions> = {}): ReturnType<typeof survey> =>
  survey(crawl, { shards: SHARDS, needsPlace: false, onProgress: () => {}, ...options });

/** The survey of a crawl that must be sound. */
export const soundSurveyOf = async (crawl: StoredCrawl): Promise<Survey> => {
  const { faults, whole } = await surveyOf(crawl);
  if (faults.length > 0 || whole === null) throw new Error(`the crawl is not sound: ${JSON.stringify(faults, asText)}`);
  if (whole.lost.size + whole.repeated > 0)
    throw new Error(`fingerprints: ${whole.lost.size} of no link, ${whole.repeated} repeated`);
  return whole;
};

const asText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
