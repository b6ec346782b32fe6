/** The metrics of a running crawl: what its threads wrote, and what is looked up when somebody asks. */

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { settledTotal, type Census } from '../model/census.ts';
import { ANSWERED_OUTCOMES } from '../model/outcome.ts';
import type { Board } from '../observe/metrics/board.ts';
import type { LabelValues, Series } from '../observe/metrics/cells.ts';
import { combineAll, only, type Asked } from '../observe/metrics/combine.ts';
import { countDescriptors, type Descriptors } from '../observe/metrics/descriptors.ts';
import { openRates } from '../observe/metrics/rates.ts';
import { metricOf } from '../observe/metrics/table.ts';
import { sumOf, totalsOf, type Totals } from '../observe/metrics/totals.ts';
import { writeMetrics } from '../observe/metrics/text.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { isShared, kindOf } from '../store/address.ts';
import type { StorePlace } from '../store/options.ts';
import { openVitals } from '../threads/vitals.ts';
import { diskFreeBytes } from '../folder/ceilings.ts';

export interface Metrics {
  /** In the text format of Prometheus. */
  text(): string;
  close(): void;
}

export interface MetricsParts {
  readonly board: Board;
  readonly dir: string;
  /** Where the crawl is, what it is called there, and which member this process is. */
  readonly store: Pick<StorePlace, 'url' | 'crawl' | 'member'>;
  readonly snapshot: () => Snapshot;
}

/** With thousands of sockets a look costs milliseconds: it is not taken more often, whoever asks. */
const DESCRIPTORS_MS = 5_000;

/** What belongs to the store in the directory of a crawl: its databases, and waiting links in files. */
const STORE_FILES = ['crawl.db', 'pages.db', 'frontier/'];

/** A crawl has one store; only one that is not shared has commits of their own. */
const isOfThis = (url: string, { store, verb }: LabelValues): boolean =>
  store === undefined || (store === kindOf(url) && (verb !== 'commit' || !isShared(url)));

export const openMetrics = ({ board, dir, store: { url, crawl, member }, snapshot }: MetricsParts): Metrics => {
  const startedAt = (performance.timeOrigin + performance.now()) / 1_000;
  const vitals = openVitals(board.cellsOf('main', 'main'));
  const pages = openRates(() =>
    totalsOf(board, 'pages_total', ({ labels }) => Object.hasOwn(ANSWERED_OUTCOMES, labels.outcome!)),
  );
  const parsed = openRates(() => totalsOf(board, 'parsed_total'));
  const descriptors = descriptorLook(board, dir, url);
  const asked = (): Asked => {
    const { census, phase, restarts, memoryBytes } = snapshot();
    const { user, system } = process.cpuUsage();
    return {
      ...(census ? censusSeries(census) : {}),
      pages_per_second: perThread(pages.now()),
      parsed_per_second: perThread(parsed.now()),
      disk_free_bytes: [only(diskFreeBytes(dir))],
      resident_memory_bytes: [only(memoryBytes)],
      cpu_seconds_total: [only(user / 1e6, { mode: 'user' }), only(system / 1e6, { mode: 'system' })],
      open_descriptors: descriptors(),
      thread_restarts_total: [only(restarts)],
      phase: metricOf('phase').labels!.phase!.map((one) => only(one === phase ? 1 : 0, { phase: one })),
      start_time_seconds: [only(startedAt)],
    };
  };
  return {
    text: () => {
      vitals.look();
      return writeMetrics(
        combineAll(board.threads(), asked()).map(
          ([name, series]) => [name, series.filter(({ labels }) => isOfThis(url, labels))] as const,
        ),
        { crawl, member },
      );
    },
    close: () => {
      vitals.close();
      pages.close();
      parsed.close();
    },
  };
};

const perThread = (rates: Totals): Series[] => Object.entries(rates).map(([thread, rate]) => only(rate, { thread }));

const censusSeries = (census: Census): Asked => {
  const { waiting, leased, parked, held, sites, sitesDue, archivedBytes } = census;
  const states = (counts: Readonly<Record<string, number>>): Series[] =>
    Object.entries(counts).map(([state, count]) => only(count, { state }));
  return {
    links: states({ waiting, leased, settled: settledTotal(census), parked, held }),
    sites: states({
      due: sitesDue,
      waiting: Math.max(0, sites.known - sitesDue - sites.held),
      parked: sites.parked,
      held: sites.held,
    }),
    archive_bytes: [only(archivedBytes)],
  };
};

const descriptorLook = (board: Board, dir: string, store: string): (() => readonly Series[]) => {
  const stems = STORE_FILES.map((name) => join(realpathSync(dir), name));
  const isOfStore = (path: string): boolean => stems.some((stem) => path.startsWith(stem));
  const look = (): Descriptors | null =>
    countDescriptors(
      {
        http: sumOf(board, 'sockets', ({ labels }) => labels.scheme === 'http'),
        https: sumOf(board, 'sockets', ({ labels }) => labels.scheme === 'https'),
        // A database in the directory is no socket.
        store: isShared(store) ? sumOf(board, 'store_connections') : 0,
      },
      isOfStore,
    );
  let lookedAt = -Infinity;
  let last: readonly Series[] = [];
  return () => {
    if (performance.now() - lookedAt >= DESCRIPTORS_MS) {
      lookedAt = performance.now();
      last = Object.entries(look() ?? {}).map(([kind, count]) => only(count, { kind }));
    }
    return last;
  };
};
