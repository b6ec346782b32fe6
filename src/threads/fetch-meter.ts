/** The numbers of a fetch thread, written as things happen. */

import type { Gauges } from '../fetch/fetcher.ts';
import type { LoopGauges } from '../frontier/claim-loop.ts';
import type { Parsed } from '../frontier/parts.ts';
import { CALL_KINDS, type CallKind, type CallParts, type Exchange } from '../model/exchange.ts';
import type { Refused } from '../model/outcome.ts';
import { cellOf, cellsBy, openDistribution, openMeter, type Distribution } from '../observe/metrics/cells.ts';
import type { FetchPhase } from '../observe/metrics/table.ts';

export interface FetchNow extends LoopGauges, Pick<Gauges, 'bodyBytes'> {
  readonly parseBacklog: number;
  readonly waitingForParser: number;
  readonly longestVisitMs: number;
  readonly longestCallMs: number;
  readonly refused: Refused;
}

export interface FetchMeter {
  call(kind: CallKind, exchange: Exchange): void;
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
  const calls = cellsBy('calls_total', 'kind');
  const errors = cellsBy('errors_total', 'kind');
  const network = cellsBy('network_bytes_total', 'direction');
  const handshakes = cellsBy('tls_handshakes_total', 'resumed');
  const pressure = cellsBy('backpressure_total', 'kind');
  const sockets = cellsBy('sockets', 'scheme');
  const content = openDistribution(cells, 'content_bytes');
  const phases = Object.fromEntries(CALL_KINDS.map((kind) => [kind, phasesOf(cells, kind)])) as Readonly<
    Record<CallKind, Phases>
  >;
  const noteRefused = refusedNoter(cells);
  const gauges = {
    visits: cellOf('visits'),
    slots: cellOf('slots'),
    bodyBytes: cellOf('body_memory_bytes'),
    parseBacklog: cellOf('parse_backlog'),
    waitingForParser: cellOf('visits_waiting_for_parser'),
  };
  const [longestVisit, longestCall] = [cellOf('longest_visit_seconds'), cellOf('longest_call_seconds')];
  const [found, parsedHere, stopped] = [
    cellOf('links_found_total'),
    cellOf('parsed_total'),
    cellOf('claiming_stopped_seconds_total'),
  ];

  const noteParts = (kind: CallKind, parts: CallParts): void => {
    const time = phases[kind];
    if (parts.lookupMs !== null) time.lookup.observe(parts.lookupMs / 1_000);
    if (parts.connectMs !== null) time.connect.observe(parts.connectMs / 1_000);
    if (parts.tlsMs !== null) time.tls.observe(parts.tlsMs / 1_000);
    if (parts.firstByteMs !== null) time['first-byte'].observe(parts.firstByteMs / 1_000);
    time.total.observe(parts.totalMs / 1_000);
    meter.add(network.in!, parts.receivedBytes);
    meter.add(network.out!, parts.sentBytes);
    if (parts.resumed !== null) meter.add(handshakes[parts.resumed ? 'yes' : 'no']!);
  };

  return {
    call: (kind, exchange) => {
      meter.add(calls[kind]!);
      if (exchange.parts) noteParts(kind, exchange.parts);
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
    now: ({ refused, longestVisitMs, longestCallMs, ...now }) => {
      meter.set(longestVisit, longestVisitMs / 1_000);
      meter.set(longestCall, longestCallMs / 1_000);
      for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) meter.set(gauges[name], now[name]);
      noteRefused(refused);
    },
  };
};

const phasesOf = (cells: SharedArrayBuffer, kind: CallKind): Phases => {
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
