/** What the fetch threads are doing, read from the numbers that they write as things happen. */

import { ANSWERED_OUTCOMES, type Refused } from '../model/outcome.ts';
import { FAILURES } from '../model/failure.ts';
import type { Board } from './metrics/board.ts';
import { readSeries } from './metrics/cells.ts';
import type { MetricName } from './metrics/table.ts';
import { sumOf } from './metrics/totals.ts';

/** How late an event loop came to its timers. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Readings {
  /** Visits under way. */
  readonly visits: number;
  /** Requests of this run that have ended, and those of them that failed. */
  readonly requests: number;
  readonly failures: number;
  /** Bytes of HTTP that this run received. */
  readonly receivedBytes: number;
  /** Open sockets, what bodies hold, and visits that wait for a parse thread. */
  readonly sockets: number;
  readonly bodyBytes: number;
  readonly waitingForParser: number;
  /** The longest visit and the longest request so far in any fetch thread, those under way included. */
  readonly longestVisitMs: number;
  readonly longestRequestMs: number;
  /** The worst of the fetch threads: over the last seconds, and since it began. Delays of threads cannot be added. */
  readonly loopDelay: LoopDelay;
  readonly loopDelayOverall: LoopDelay;
  /** Links that were found and not stored, by reason. */
  readonly refused: Refused;
}

export const readingsOf = (board: Board): Readings => {
  const fetchers = board.threads().filter(({ role }) => role === 'fetch');
  const most = (name: MetricName, percentile?: string): number =>
    Math.max(
      0,
      ...fetchers.flatMap(({ cells }) =>
        readSeries(cells, name)
          .filter(({ labels }) => percentile === undefined || labels.percentile === percentile)
          .map(({ cells: [value] }) => value!),
      ),
    ) * 1_000;
  const delay = (name: MetricName): LoopDelay => ({
    p50Ms: most(name, '50'),
    p99Ms: most(name, '99'),
    maxMs: most(name, '100'),
  });
  return {
    visits: sumOf(board, 'visits'),
    requests: sumOf(board, 'requests_total'),
    failures: sumOf(board, 'errors_total', ({ labels }) => labels.kind! in FAILURES),
    receivedBytes: sumOf(board, 'network_bytes_total', ({ labels }) => labels.direction === 'in'),
    sockets: sumOf(board, 'sockets'),
    bodyBytes: sumOf(board, 'body_memory_bytes'),
    waitingForParser: sumOf(board, 'visits_waiting_for_parser'),
    longestVisitMs: most('longest_visit_seconds'),
    longestRequestMs: most('longest_request_seconds'),
    loopDelay: delay('event_loop_delay_seconds'),
    loopDelayOverall: delay('event_loop_delay_run_seconds'),
    refused: refusedOf(fetchers.map(({ cells }) => cells)),
  };
};

/** Pages that the threads of this process settled in this run: links that a server answered. */
export const pagesSettled = (board: Board): number =>
  sumOf(board, 'pages_total', ({ labels }) => Object.hasOwn(ANSWERED_OUTCOMES, labels.outcome!));

const refusedOf = (all: readonly SharedArrayBuffer[]): Refused => {
  const sum: Record<string, number> = {};
  for (const cells of all)
    for (const {
      labels,
      cells: [count],
    } of readSeries(cells, 'links_refused_total'))
      if (count! > 0) sum[labels.reason!] = (sum[labels.reason!] ?? 0) + count!;
  return sum;
};
