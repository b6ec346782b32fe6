/** All metrics in one table: the memory of the threads, the text for Prometheus and the reference page come from it. */

import { FAILURES, type FailureCause } from '../../model/failure.ts';
import {
  ANSWERED_OUTCOMES,
  failedName,
  HOOK_REFUSALS,
  SCOPE_REFUSALS,
  UNANSWERED_OUTCOMES,
} from '../../model/outcome.ts';
import { REQUEST_KINDS } from '../../model/request.ts';

/** Every name in the text begins with it. */
export const PREFIX = 'gossamer_';

/** All rates are over this time. */
export const RATE_SECONDS = 5;

export type Role = 'main' | 'store' | 'fetch' | 'parse';

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The values that each label can have: sets that are known, never a site or a URL. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  /** The upper ends of the buckets of a histogram, ascending. */
  readonly buckets?: readonly number[];
  /** How the numbers of several threads become one: `thread` is one series for each, with the label `thread`. */
  readonly combine: 'sum' | 'maximum' | 'thread';
  /** A gauge of what was, not of what is: it stays when its thread has ended. */
  readonly lasts?: true;
  /**
   * Who sets it: the threads of these roles, each in its own memory; or `asked`: nobody, it is looked up when somebody
   * asks. Numbers of a fetch thread that must agree with the store are written there by the store thread.
   */
  readonly by: readonly Role[] | 'asked';
}

const PHASES = ['lookup', 'connect', 'tls', 'first-byte', 'total'] as const;
export type FetchPhase = (typeof PHASES)[number];

const VERBS = ['admit', 'claim', 'settle', 'steer', 'census', 'beat', 'journal', 'rules', 'commit'] as const;
export type TimedVerb = (typeof VERBS)[number];

const STORES = ['sqlite', 'redis', 'postgres'] as const;
export const DESCRIPTOR_KINDS = ['store', 'http', 'https', 'files', 'pipes', 'other'] as const;
export type DescriptorKind = (typeof DESCRIPTOR_KINDS)[number];

const CAUSES = Object.keys(FAILURES) as FailureCause[];
const OUTCOMES = [
  ...Object.keys(ANSWERED_OUTCOMES),
  ...Object.keys(UNANSWERED_OUTCOMES),
  ...CAUSES.map(failedName),
  ...Object.keys(SCOPE_REFUSALS),
];

/** A name server at hand answers within a millisecond; a request may take minutes. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A verb of the store takes 0.1 ms on SQLite; one that takes a second is slow. */
const STORE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** A page has 60 KB, more or less; --body-max is 2 MiB unless it is set. */
const SIZE_BUCKETS = [1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

const EVERY: readonly Role[] = ['main', 'store', 'fetch', 'parse'];
/** Seeds are admitted by the main thread. */
const ADMITTING: readonly Role[] = ['main', 'fetch'];
/** With --parsers 0 the fetch threads parse. */
const PARSING: readonly Role[] = ['parse', 'fetch'];

export const METRICS = {
  // Pages and requests
  pages_total: {
    type: 'counter',
    combine: 'thread',
    by: ['fetch'],
    labels: { outcome: OUTCOMES },
    help: 'Links settled, by outcome. Their sum over all threads is what the store counted in this run.',
  },
  pages_per_second: {
    type: 'gauge',
    combine: 'thread',
    by: 'asked',
    help: `Pages that a server answered, over the last ${RATE_SECONDS} s.`,
  },
  parsed_total: { type: 'counter', combine: 'thread', by: PARSING, help: 'Pages and sitemaps parsed.' },
  parsed_per_second: {
    type: 'gauge',
    combine: 'thread',
    by: 'asked',
    help: `Pages and sitemaps parsed, over the last ${RATE_SECONDS} s.`,
  },
  errors_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { kind: [...CAUSES, 'http-4xx', 'http-5xx'] },
    help: 'Requests that failed, by cause, and responses with a 4xx or 5xx status. Retries count each time.',
  },
  requests_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { kind: REQUEST_KINDS },
    help: 'HTTP requests that have ended, by what was asked for.',
  },
  fetch_seconds: {
    type: 'histogram',
    combine: 'sum',
    by: ['fetch'],
    buckets: REQUEST_BUCKETS,
    labels: { kind: REQUEST_KINDS, phase: PHASES },
    help: 'Duration of HTTP requests by phase: name lookup, TCP connect, TLS handshake, from sending the request to the first byte of the response, and the total. A phase that a request did not have (on a kept connection) is not counted.',
  },
  content_bytes: {
    type: 'histogram',
    combine: 'sum',
    by: ['fetch'],
    buckets: SIZE_BUCKETS,
    help: 'Bytes of the bodies of pages and sitemaps, as they came.',
  },
  sockets: {
    type: 'gauge',
    combine: 'sum',
    by: ['fetch'],
    labels: { scheme: ['http', 'https'] },
    help: 'Open sockets to sites, with those that are kept for the next visit.',
  },
  network_bytes_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { direction: ['in', 'out'] },
    help: 'Bytes of HTTP received and sent, without TLS and TCP around them.',
  },
  tls_handshakes_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { resumed: ['no', 'yes'] },
    help: 'TLS handshakes done, and whether they resumed a session.',
  },

  // Links and sites
  links_found_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    help: 'Links found on pages and in sitemaps, repeated ones each time.',
  },
  links_refused_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { reason: [...Object.keys(SCOPE_REFUSALS), ...Object.keys(HOOK_REFUSALS)] },
    help: 'Links found and not wanted, by reason.',
  },
  links_admitted_total: { type: 'counter', combine: 'sum', by: ADMITTING, help: 'Links that the store took in.' },
  links_seen_total: {
    type: 'counter',
    combine: 'sum',
    by: ADMITTING,
    help: 'Links given to the store that it knew already. Those that a fetch thread knew by itself are not given to it.',
  },
  links_forgotten_total: {
    type: 'counter',
    combine: 'sum',
    by: ADMITTING,
    help: 'Links not taken in because --max-waiting-per-site of their site waited.',
  },
  links: {
    type: 'gauge',
    combine: 'sum',
    by: 'asked',
    labels: { state: ['waiting', 'leased', 'settled', 'parked', 'held'] },
    help: 'Links of the whole crawl, by state.',
  },
  sites: {
    type: 'gauge',
    combine: 'sum',
    by: 'asked',
    labels: { state: ['due', 'waiting', 'parked', 'held'] },
    help: 'Sites of the whole crawl. due: may be visited now, counted up to 10,000; waiting: not due, because their delay is not over, they are being visited, or they have no link left; parked: origins that could not be reached.',
  },

  // Visits, parsing and back-pressure
  visits: { type: 'gauge', combine: 'thread', by: ['fetch'], help: 'Visits under way.' },
  slots: {
    type: 'gauge',
    combine: 'thread',
    by: ['fetch'],
    help: 'Visits that there is room for; opens to --concurrency over the first seconds.',
  },
  longest_visit_seconds: {
    type: 'gauge',
    combine: 'maximum',
    lasts: true,
    by: ['fetch'],
    help: 'The longest visit since its thread began, those under way included.',
  },
  longest_request_seconds: {
    type: 'gauge',
    combine: 'maximum',
    lasts: true,
    by: ['fetch'],
    help: 'The longest HTTP request since its thread began, those under way included; --timeout is the ceiling.',
  },
  parse_backlog: {
    type: 'gauge',
    combine: 'sum',
    by: ['fetch'],
    help: 'Bodies that wait for a parse thread or are with one.',
  },
  visits_waiting_for_parser: {
    type: 'gauge',
    combine: 'sum',
    by: ['fetch'],
    help: 'Soft back-pressure now: visits whose body waits because all parse threads have enough to do.',
  },
  backpressure_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    labels: { kind: ['soft', 'hard'] },
    help: 'soft: a visit had to wait for a parse thread; hard: claiming stopped because every slot had a visit.',
  },
  claiming_stopped_seconds_total: {
    type: 'counter',
    combine: 'sum',
    by: ['fetch'],
    help: 'Hard back-pressure: time during which nothing was claimed because every slot had a visit.',
  },

  // Store and archive
  store_verb_seconds: {
    type: 'histogram',
    combine: 'sum',
    by: ['store'],
    buckets: STORE_BUCKETS,
    labels: { store: STORES, verb: VERBS },
    help: 'Duration of the verbs of the store. On SQLite many share a transaction, whose end is "commit".',
  },
  store_connections: {
    type: 'gauge',
    combine: 'sum',
    by: ['store'],
    labels: { store: STORES },
    help: 'Open connections to the store; for SQLite, databases open.',
  },
  archive_bytes: { type: 'gauge', combine: 'sum', by: 'asked', help: 'Bytes of all archive records of the crawl.' },
  disk_free_bytes: {
    type: 'gauge',
    combine: 'sum',
    by: 'asked',
    help: 'Free space on the disk of the crawl directory.',
  },

  // Machine
  event_loop_delay_seconds: {
    type: 'gauge',
    combine: 'thread',
    by: EVERY,
    labels: { percentile: ['50', '99', '100'] /* promtool wants "quantile" for summaries only */ },
    help: `How late the event loop came to its timers, over the last ${RATE_SECONDS} s.`,
  },
  event_loop_delay_run_seconds: {
    type: 'gauge',
    combine: 'thread',
    lasts: true,
    by: EVERY,
    labels: { percentile: ['50', '99', '100'] },
    help: 'How late the event loop came to its timers, since the thread began.',
  },
  heap_bytes: { type: 'gauge', combine: 'thread', by: EVERY, help: 'JavaScript heap in use.' },
  thread_memory_bytes: {
    type: 'gauge',
    combine: 'thread',
    by: EVERY,
    help: 'Memory of a thread: its whole heap, and the buffers outside of it.',
  },
  resident_memory_bytes: { type: 'gauge', combine: 'sum', by: 'asked', help: 'Memory of the process that is in RAM.' },
  body_memory_bytes: {
    type: 'gauge',
    combine: 'sum',
    by: ['fetch'],
    help: 'What bodies under way hold; --body-memory is the ceiling.',
  },
  cpu_seconds_total: {
    type: 'counter',
    combine: 'sum',
    by: 'asked',
    labels: { mode: ['user', 'system'] },
    help: 'CPU time of the process.',
  },
  thread_cpu_seconds_total: {
    type: 'counter',
    combine: 'thread',
    by: EVERY,
    help: 'CPU time of a thread, at most 5 s old; work of the pools of Node and V8 is only in cpu_seconds_total.',
  },
  open_descriptors: {
    type: 'gauge',
    combine: 'sum',
    by: 'asked',
    labels: { kind: DESCRIPTOR_KINDS },
    help: 'Open file descriptors of the process by kind; together all that the system counts. Absent where there is no /proc.',
  },
  thread_restarts_total: {
    type: 'counter',
    combine: 'sum',
    by: 'asked',
    help: 'Threads that died and were started again.',
  },

  // The run
  phase: {
    type: 'gauge',
    combine: 'sum',
    by: 'asked',
    labels: { phase: ['opening', 'loading seeds', 'crawling', 'stopping', 'ended'] },
    help: '1 for what the crawl is doing, 0 for the others.',
  },
  start_time_seconds: { type: 'gauge', combine: 'sum', by: 'asked', help: 'When this run began, in Unix time.' },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as MetricName[];

export const metricOf = (name: MetricName): Metric => METRICS[name];

/** The name as it is in the text. */
export const fullName = (name: MetricName): string => PREFIX + name;
