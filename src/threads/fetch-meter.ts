/** The numbers of a fetch thread, written as things happen. */

import type { Gauges } from '../fetch/fetcher.ts';
import type { LoopGauges } from '../visit/claim-loop.ts';
import type { Parsed } from '../visit/parts.ts';
import type { Exchange } from '../model/exchange.ts';
import type { Refused } from '../model/outcome.ts';
import { REQUEST_KINDS, type RequestKind, type RequestTimes } from '../model/request.ts';
import { cellOf, cellsBy, openDistribution, openMeter, type Distribution } from '../observe/metrics/cells.ts';
import type { FetchPhase } from '../observe/metrics/table.ts';

export interface FetchNow extends LoopGauges, Pick<Gauges, 'bodyBytes'> {
  readonly parseBacklog: number;
  readonly waitingForParser: number;
  readonly longestVisitMs: number;
  readonly longestRequestMs: number;
  readonly refused: Refused;
}

export interface FetchMeter {
  /** A request has ended. */
  request(kind: RequestKind, exchange: Exchange): void;
  /** What came back from parsing; `here` when this thread did it. */
  parsed(parsed: Parsed, here: boolean): void;
  sockets(http: number, https: number): void;
  /** A visit has to wait for a parse thread. */
  waits(): void;
  /** Claiming had stopped for so long, because every slot had a visit. */
  stoppedFor(ms: number): void;
  /** How things stand; some times a second. */
  now(now: FetchNow): void;
}

type Phases = Readonly<Record<FetchPhase, Distribution>>;

export const openFetchMeter = (cells: SharedArrayBuffer): FetchMeter => {
  const meter = openMeter(cells);
  const requests = cellsBy('requests_total', 'kind');
  const errors = cellsBy('errors_total', 'kind');
  const network = cellsBy('network_bytes_total', 'direction');
  const handshakes = cellsBy('tls_handshakes_total', 'resumed');
  const pressure = cellsBy('backpressure_total', 'kind');
  const sockets = cellsBy('sockets', 'scheme');
  const content = openDistribution(cells, 'content_bytes');
  const phases = Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, phasesOf(cells, kind)])) as Readonly<
    Record<RequestKind, Phases>
  >;
  const noteRefused = refusedNoter(cells);
  const gauges = {
    visits: cellOf('visits'),
    slots: cellOf('slots'),
    bodyBytes: cellOf('body_memory_bytes'),
    parseBacklog: cellOf('parse_backlog'),
    waitingForParser: cellOf('visits_waiting_for_parser'),
  };
  const [longestVisit, longestRequest] = [cellOf('longest_visit_seconds'), cellOf('longest_request_seconds')];
  const [found, parsedHere, stopped] = [
    cellOf('links_found_total'),
    cellOf('parsed_total'),
    cellOf('claiming_stopped_seconds_total'),
  ];

  const noteTimes = (kind: RequestKind, times: RequestTimes): void => {
    const observed = phases[kind];
    if (times.lookupMs !== null) observed.lookup.observe(times.lookupMs / 1_000);
    if (times.connectMs !== null) observed.connect.observe(times.connectMs / 1_000);
    if (times.tlsMs !== null) observed.tls.observe(times.tlsMs / 1_000);
    if (times.firstByteMs !== null) observed['first-byte'].observe(times.firstByteMs / 1_000);
    observed.total.observe(times.totalMs / 1_000);
    meter.add(network.in!, times.receivedBytes);
    meter.add(network.out!, times.sentBytes);
    if (times.resumed !== null) meter.add(handshakes[times.resumed ? 'yes' : 'no']!);
  };

  return {
    request: (kind, exchange) => {
      meter.add(requests[kind]!);
      if (exchange.times) noteTimes(kind, exchange.times);
      if (exchange.kind === 'failed') return meter.add(errors[exchange.cause]!);
      if (exchange.status >= 400 && exchange.status < 600)
        meter.add(errors[exchange.status < 500 ? 'http-4xx' : 'http-5xx']!);
      if (kind !== 'robots' && exchange.body.length > 0) content.observe(exchange.body.length);
    },
    parsed: (parsed, here) => {
      if (parsed.kind !== 'parsed' || !parsed.findings) return;
      meter.add(found, parsed.findings.hrefs.length + (parsed.findings.sitemaps?.length ?? 0));
      if (here) meter.add(parsedHere);
    },
    sockets: (http, https) => {
      meter.set(sockets.http!, http);
      meter.set(sockets.https!, https);
    },
    waits: () => meter.add(pressure.soft!),
    stoppedFor: (ms) => {
      meter.add(pressure.hard!);
      meter.add(stopped, ms / 1_000);
    },
    now: ({ refused, longestVisitMs, longestRequestMs, ...now }) => {
      meter.set(longestVisit, longestVisitMs / 1_000);
      meter.set(longestRequest, longestRequestMs / 1_000);
      for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) meter.set(gauges[name], now[name]);
      noteRefused(refused);
    },
  };
};

const phasesOf = (cells: SharedArrayBuffer, kind: RequestKind): Phases => {
  const time = (phase: FetchPhase): Distribution => openDistribution(cells, 'fetch_seconds', { kind, phase });
  return {
    lookup: time('lookup'),
    connect: time('connect'),
    tls: time('tls'),
    'first-byte': time('first-byte'),
    total: time('total'),
  };
};

/**
 * The router counts since its thread began: what is new since the last look is added to what threads before it counted.
 */
const refusedNoter = (cells: SharedArrayBuffer): ((refused: Refused) => void) => {
  const meter = openMeter(cells);
  const reasons = cellsBy('links_refused_total', 'reason');
  const noted: Record<string, number> = {};
  return (refused) => {
    for (const [reason, count] of Object.entries(refused)) {
      meter.add(reasons[reason]!, count - (noted[reason] ?? 0));
      noted[reason] = count;
    }
  };
};
