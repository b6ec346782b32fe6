/** What a run under load has shown: figures, checks and plots. */

import { socketsMaxOf } from '../src/model/settings.ts';
import type { Plot } from './plot.ts';
import { median, thirds, type Sample, type Told } from './load-samples.ts';

export interface LoadRun {
  readonly visits: number;
  readonly hosts: number;
  readonly timeoutMs: number;
  readonly durationMs: number;
  readonly samples: readonly Sample[];
  readonly told: readonly Told[];
  readonly verifyCode: number | null;
  /** Connections that the bad web still had when the crawl was gone. */
  readonly leftOpen: number;
}

export interface Check {
  readonly what: string;
  readonly holds: boolean;
}

/** Slots open over 5 s, and a first round of slow requests takes a timeout: before that nothing is steady. */
const RAMP_MS = 8_000;
/**
 * Visits that wait for a parser hold no socket, so descriptors come and go with the load of the machine: what must not
 * grow is the most of them. Medians of memory differ by chance, more in a short run.
 */
const DESCRIPTORS_MORE = 1.05;
const MEMORY_MORE = 1.15;
/** Files, pipes, ports and loops beside the sockets. */
const DESCRIPTORS_BESIDE = 100;
/** Deadlines are looked at every 100 ms, and a request's own end takes a moment too. */
const NOTICED_MS = 250;
const BUSY_SHARE = 0.95;
const MIB = 1024 ** 2;

const steady = <T>(list: readonly T[], { timeoutMs, durationMs }: LoadRun, atMs: (one: T) => number): readonly T[] =>
  list.filter((one) => atMs(one) > RAMP_MS + timeoutMs && atMs(one) < durationMs);

interface Third {
  readonly first: number;
  readonly last: number;
  readonly most: number;
  readonly mostFirst: number;
  readonly mostLast: number;
}

const thirdsOf = <T>(list: readonly T[], pick: (one: T) => number): Third => {
  const { first, last } = thirds(list);
  const most = (part: readonly T[]): number => Math.max(0, ...part.map(pick));
  return {
    first: median(first.map(pick)),
    last: median(last.map(pick)),
    most: most(list),
    mostFirst: most(first),
    mostLast: most(last),
  };
};

const figuresOf = (run: LoadRun) => {
  const samples = steady(run.samples, run, (one) => one.atMs);
  const told = steady(run.told, run, (one) => one.elapsedMs);
  const end = run.told.at(-1)!;
  const seconds = (told.at(-1)!.elapsedMs - told[0]!.elapsedMs) / 1000;
  return {
    end,
    told,
    samples,
    memory: thirdsOf(samples, (one) => one.memoryBytes / MIB),
    descriptors: thirdsOf(samples, (one) => one.descriptors),
    visits: thirdsOf(told, (one) => one.visits),
    loopP50: thirdsOf(told, (one) => one.loopDelay.p50Ms),
    loopP99: thirdsOf(told, (one) => one.loopDelay.p99Ms),
    bodies: thirdsOf(told, (one) => one.bodyBytes / MIB),
    parseQueue: thirdsOf(told, (one) => one.waitingForParser),
    pages: thirdsOf(told, (one) => one.pagesPerSecond),
    requestsPerSecond: (told.at(-1)!.requests - told[0]!.requests) / seconds,
    failuresPerSecond: (told.at(-1)!.failures - told[0]!.failures) / seconds,
  };
};

export const checksOf = (run: LoadRun): Check[] => {
  const { end, memory, descriptors, visits } = figuresOf(run);
  const requestMsMax = run.timeoutMs + NOTICED_MS + end.loopDelayOverall.maxMs;
  return [
    {
      what: `the crawl ended in order (${end.reason}), ${end.leased} links leased, ${end.restarts} threads restarted`,
      holds: end.reason === 'max-duration' && end.leased === 0 && end.restarts === 0,
    },
    {
      what: `at least ${BUSY_SHARE * 100} % of the visits were under way (median ${Math.min(visits.first, visits.last)} of ${run.visits})`,
      holds: Math.min(visits.first, visits.last) >= BUSY_SHARE * run.visits,
    },
    {
      what: `descriptors are flat: at most ${descriptors.mostFirst} in the first third, ${descriptors.mostLast} in the last`,
      holds:
        descriptors.mostLast <= descriptors.mostFirst * DESCRIPTORS_MORE &&
        descriptors.most <= socketsMaxOf({ concurrency: run.visits }) + DESCRIPTORS_BESIDE,
    },
    { what: 'memory is flat', holds: memory.last <= memory.first * MEMORY_MORE },
    {
      what: `no visit past its deadline: the longest took ${seconds(end.longestVisitMs)}, it may send for ${seconds(end.visitRequestsMsMax)}`,
      holds: end.longestVisitMs <= end.visitRequestsMsMax,
    },
    {
      what: `no request past its time: the longest took ${seconds(end.longestRequestMs)}, allowed are ${seconds(run.timeoutMs)}`,
      holds: end.longestRequestMs <= requestMsMax,
    },
    { what: `no connection was left open at the servers (${run.leftOpen})`, holds: run.leftOpen === 0 },
    { what: `gossamer verify is clean (exit code ${run.verifyCode})`, holds: run.verifyCode === 0 },
  ];
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const whole = (n: number): string => Math.round(n).toLocaleString('en');
const tenths = (n: number): string => n.toFixed(1);

export const tableOf = (run: LoadRun): string => {
  const f = figuresOf(run);
  const row = (what: string, { first, last, most }: Third, write: (n: number) => string): string =>
    `| ${what} | ${write(first)} | ${write(last)} | ${write(most)} |`;
  const outcomes = Object.entries(f.end.settledByOutcome)
    .sort(([, a], [, b]) => b - a)
    .map(([name, n]) => `${name} ${whole(n)}`)
    .join(', ');
  return [
    '| what | first third, median | last third, median | most |',
    '| --- | --- | --- | --- |',
    row('memory (RSS), MiB', f.memory, whole),
    row('open descriptors', f.descriptors, whole),
    row('visits under way', f.visits, whole),
    row('event-loop delay of the fetch thread, p50 of 5 s, ms', f.loopP50, tenths),
    row('event-loop delay of the fetch thread, p99 of 5 s, ms', f.loopP99, tenths),
    row('bodies in memory, MiB', f.bodies, whole),
    row('visits that wait for a parser', f.parseQueue, whole),
    row('pages per second', f.pages, whole),
    '',
    `Event-loop delay over the whole run: p50 ${f.end.loopDelayOverall.p50Ms} ms, **p99 ${f.end.loopDelayOverall.p99Ms} ms**, most ${f.end.loopDelayOverall.maxMs} ms. ` +
      `${whole(f.requestsPerSecond)} requests a second, of which ${whole(f.failuresPerSecond)} failed. CPU, in cores: ${cpuOf(f.samples)}.`,
    '',
    `${whole(f.end.pages)} pages on ${whole(f.end.sites.known)} sites; links settled: ${outcomes}.`,
    '',
    ...checksOf(run).map(({ what, holds }) => `* ${holds ? 'ok' : '**failed**'}: ${what}`),
  ].join('\n');
};

/** Mean share of a core by thread, those that matter. */
const cpuOf = (samples: readonly Sample[]): string => {
  const [first, last] = [samples[0]!, samples.at(-1)!];
  return [...last.cpuMs]
    .map(([name, ms]) => ({ name, cores: (ms - (first.cpuMs.get(name) ?? 0)) / (last.atMs - first.atMs) }))
    .filter(({ cores }) => cores >= 0.01)
    .sort((a, b) => b.cores - a.cores)
    .map(({ name, cores }) => `${name} ${cores.toFixed(2)}`)
    .join(', ');
};

export const plotsOf = ({ samples, told }: LoadRun): Readonly<Record<string, Plot>> => {
  const minutes = (ms: number): number => ms / 60_000;
  const outside = (pick: (one: Sample) => number): [number, number][] =>
    samples.map((one) => [minutes(one.atMs), pick(one)]);
  const inside = (pick: (one: Told) => number): [number, number][] =>
    told.filter((one) => one.phase === 'crawling').map((one) => [minutes(one.elapsedMs), pick(one)]);
  const xUnit = 'minutes';
  return {
    'load-memory': {
      title: 'Memory of the process',
      xUnit,
      yUnit: 'MiB',
      series: [
        { name: 'resident', points: outside((one) => one.memoryBytes / MIB) },
        { name: 'bodies under way', points: inside((one) => one.bodyBytes / MIB) },
      ],
    },
    'load-descriptors': {
      title: 'Open descriptors and visits under way',
      xUnit,
      yUnit: 'count',
      series: [
        { name: 'descriptors', points: outside((one) => one.descriptors) },
        { name: 'visits', points: inside((one) => one.visits) },
      ],
    },
    'load-delay': {
      title: 'Event-loop delay of the fetch thread, over 5 s each',
      xUnit,
      yUnit: 'ms',
      series: [
        { name: 'most', points: inside((one) => one.loopDelay.maxMs) },
        { name: 'p99', points: inside((one) => one.loopDelay.p99Ms) },
        { name: 'p50', points: inside((one) => one.loopDelay.p50Ms) },
      ],
    },
    'load-pages': {
      title: 'Pages per second',
      xUnit,
      yUnit: '1/s',
      series: [{ name: 'pages', points: inside((one) => one.pagesPerSecond) }],
    },
  };
};
