/**
 * CPU of a process by what it is spent on: Linux's perf samples it, and a table (kinds/table.ts) sorts the samples.
 *
 * `cpu-clock` is a software event: it needs no counters of the processor, which virtual machines seldom have. Who may
 * not look into the kernel (kernel.perf_event_paranoid of 2 and more, and no root) gets the shares of the rest.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { plainName } from './kinds/jit-map.ts';
import { samplesOf, type TimedSample } from './kinds/samples.ts';
import { kindOf, OTHER, PROFILER, roomOf } from './kinds/table.ts';

const EVENT = ['-e', 'cpu-clock'];
/** No round number, so that it does not keep step with timers. */
const SAMPLES_PER_SECOND = '499';
/** Else perf keeps a copy of every binary it saw in the user's home. */
const NO_COPIES = ['--no-buildid', '--no-buildid-cache'];
const TOP = 5;
/** Symbols of no kind are what the table could be improved by. */
const TOP_OTHER = 10;

export interface KindCpu {
  readonly kind: string;
  /** Share of all samples, 0..1. */
  readonly share: number;
  readonly ms: number;
}

export interface MeasuredKinds {
  readonly samples: number;
  /** Most first. */
  readonly kinds: readonly KindCpu[];
  /** `JavaScript` once more, by room of the source; shares are of all samples, too. */
  readonly rooms: readonly KindCpu[];
  /** What the process wrote to its standard output. */
  readonly out: string;
  /** By kind, the functions with the most samples, each with its share of all. */
  readonly top: ReadonlyMap<string, readonly string[]>;
}

/** Why there can be no measurement here, as a sentence; null where there can be. */
export const perfMissing = (): string | null => {
  const trial = spawnSync('perf', ['record', '-q', ...EVENT, '-o', '/dev/null', '--', 'true'], { encoding: 'utf8' });
  if (trial.error) return 'CPU by kind needs the program perf: install the package linux-perf (Debian) or perf.';
  if (trial.status === 0) return null;
  const said = trial.stderr.trim().split('\n').slice(0, 2).join(' ');
  return `CPU by kind needs perf, and perf may not measure here (see kernel.perf_event_paranoid): ${said}`;
};

/**
 * Runs Node with these arguments under perf. `home` is a folder for what is gone afterwards.
 *
 * V8's flags are part of the name under which Node remembers what it compiled: the first run in a `home` compiles
 * everything and strips the types of every file, in every thread. Run once for nothing (few pages do), then measure.
 *
 * `--perf-basic-prof` makes V8 write down which function is where, one line per function and tier. CPU per page, 11
 * alternating rounds of 6,000 pages on a shared machine, means: 2.66 ms without it, 2.69 with it, 2.76 with perf as
 * well; single runs differed by 8 %. `--interpreted-frames-native-stack` would tell nothing new without callers.
 */
export const measureKinds = async ({
  home,
  args,
  env,
}: {
  home: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
}): Promise<MeasuredKinds> => {
  const profile = join(home, 'perf.data');
  const recording = ['record', '-q', '-F', SAMPLES_PER_SECOND, ...EVENT, '-o', profile, ...NO_COPIES, '--'];
  const log = join(home, 'v8.log');
  const node = [process.execPath, '--perf-basic-prof', `--perf-basic-prof-path=${home}`, ...oneLog(log), ...args];
  const child = spawn('perf', [...recording, ...node], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(home, 'compiled'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const [code] = (await once(child, 'close')) as [number];
  try {
    if (code !== 0) throw new Error(`perf record of ${args.join(' ')} ended with ${code}: ${out}`);
    return { ...(await sorted(home, profile)), out };
  } finally {
    for (const left of [profile, log, ...globSync(join(home, 'perf-*.map'))]) rmSync(left, { force: true });
  }
};

/** The flag makes V8 write a log, too, which nobody reads; else one per thread, in the folder this runs in. */
const oneLog = (log: string): string[] => ['--no-logfile-per-isolate', `--logfile=${log}`];

interface Weighed {
  samples: number;
  ns: number;
  readonly symbols: Map<string, number>;
}

const sorted = async (home: string, profile: string): Promise<Omit<MeasuredKinds, 'out'>> => {
  const kinds = new Map<string, Weighed>();
  const rooms = new Map<string, Weighed>();
  for await (const sample of samplesOf(profile, home)) {
    const kind = kindOf(sample);
    if (kind === PROFILER) continue;
    weigh(kinds, kind, sample);
    if (kind === 'JavaScript') weigh(rooms, roomOf(sample.symbol), sample);
  }
  const samples = [...kinds.values()].reduce((sum, one) => sum + one.samples, 0);
  const top = [...kinds].map(([kind, { symbols }]) => [kind, topOf(symbols, { samples, kind })] as const);
  return { samples, kinds: sharesOf(kinds, samples), rooms: sharesOf(rooms, samples), top: new Map(top) };
};

const weigh = (weighed: Map<string, Weighed>, name: string, { symbol, ns }: TimedSample): void => {
  let one = weighed.get(name);
  if (one === undefined) weighed.set(name, (one = { samples: 0, ns: 0, symbols: new Map() }));
  one.samples += 1;
  one.ns += ns;
  const plain = plainName(symbol);
  one.symbols.set(plain, (one.symbols.get(plain) ?? 0) + 1);
};

const sharesOf = (weighed: ReadonlyMap<string, Weighed>, samples: number): KindCpu[] =>
  [...weighed]
    .map(([kind, one]) => ({ kind, share: one.samples / samples, ms: one.ns / 1e6 }))
    .sort((a, b) => b.share - a.share);

const topOf = (
  symbols: ReadonlyMap<string, number>,
  all: { readonly samples: number; readonly kind: string },
): string[] =>
  [...symbols]
    .sort(([, a], [, b]) => b - a)
    .slice(0, all.kind === OTHER ? TOP_OTHER : TOP)
    .map(([symbol, count]) => `${symbol} ${percent(count / all.samples)}`);

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `gzip 18.0 %, kernel 17.2 %, …`, without those that are too small to tell. */
export const kindsLine = (kinds: readonly KindCpu[], shareMin = 0.001): string =>
  kinds
    .filter(({ share }) => share >= shareMin)
    .map(({ kind, share }) => `${kind} ${percent(share)}`)
    .join(', ');
