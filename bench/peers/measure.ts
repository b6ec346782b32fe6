/** Runs one crawler and measures it from outside: CPU of the whole tree of processes, memory, descriptors. */

import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Takes all that it writes. */
  readonly log: string;
}

/** Why a run is to end now; null to go on. */
export type Judge = () => Promise<string | null>;

export interface Measured {
  /** User and system time of it and of all its children. */
  readonly cpuMs: number;
  /** The largest sum of resident memory over all its processes. */
  readonly peakBytes: number;
  readonly descriptorsPeak: number;
  readonly code: number;
  /** What the judge said, when it did not end by itself. */
  readonly endedBecause: string | null;
}

const SAMPLE_MS = 200;
/** Listing descriptors takes the kernel longer than the rest. */
const DESCRIPTORS_EVERY = 5;
/** To end in order after SIGTERM. */
const GRACE_MS = 10_000;
const TICK_MS = 10; // USER_HZ is 100 on Linux
const PAGE_BYTES = 4_096;

/**
 * The parent of the crawler outlives it: when a child has ended, the kernel adds what it and its own children have
 * used to the figures of its parent, and nothing is missed. It ends when its input does.
 */
const PARENT = [
  'ulimit -n "$(ulimit -Hn)"',
  'trap : TERM', // reaches the whole group; a handler, unlike an ignored signal, is not passed on
  '"$@" </dev/null 3>&-',
  'echo $? >&3',
  'read -r _',
].join('\n');

interface Sample {
  readonly pids: readonly number[];
  readonly cpuMs: number;
  readonly rssBytes: number;
}

export const measure = async ({ argv, env, cwd, log }: Command, judge: Judge): Promise<Measured> => {
  const file = openSync(log, 'w');
  const child = spawn('sh', ['-c', PARENT, 'sh', ...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', file, file, 'pipe'],
    detached: true, // a process group of its own
  });
  closeSync(file);
  const pid = child.pid!;
  const killGroup = (): void => killed(-pid);
  process.once('exit', killGroup);
  let [cpuMs, peakBytes, descriptorsPeak, samples] = [0, 0, 0, 0];
  const look = (): void => {
    const sample = sampleTree(pid);
    // A process that dies before its parent waits for it is lost from the sum: what was seen stays seen.
    cpuMs = Math.max(cpuMs, sample.cpuMs);
    peakBytes = Math.max(peakBytes, sample.rssBytes);
    if (samples++ % DESCRIPTORS_EVERY === 0) descriptorsPeak = Math.max(descriptorsPeak, descriptorsOf(sample.pids));
  };
  const timer = setInterval(look, SAMPLE_MS);
  const ended = new Promise<number>((resolve, reject) => {
    child.stdio[3]!.once('data', (text: Buffer) => resolve(Number(text.toString())));
    child.once('error', reject);
    child.once('exit', () => resolve(-1));
  });
  try {
    const { code, endedBecause } = await untilEnd({ pid, ended, judge });
    look();
    return { cpuMs, peakBytes, descriptorsPeak, code, endedBecause };
  } finally {
    clearInterval(timer);
    child.stdin!.destroy();
    process.off('exit', killGroup);
  }
};

const untilEnd = async ({
  pid,
  ended,
  judge,
}: {
  readonly pid: number;
  readonly ended: Promise<number>;
  readonly judge: Judge;
}): Promise<{ readonly code: number; readonly endedBecause: string | null }> => {
  for (;;) {
    const code = await within(ended, SAMPLE_MS);
    if (code !== null) return { code, endedBecause: null };
    const endedBecause = await judge();
    if (endedBecause === null) continue;
    process.kill(-pid, 'SIGTERM');
    const last = await within(ended, GRACE_MS);
    if (last !== null) return { code: last, endedBecause };
    for (const one of sampleTree(pid).pids) if (one !== pid) killed(one);
    return { code: await ended, endedBecause: `${endedBecause}, and not before it was killed` };
  }
};

/** Null when it takes longer. */
const within = async <T>(work: Promise<T>, ms: number): Promise<T | null> => {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, ms, null);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

const killed = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
};

/** The process and all below it. */
const sampleTree = (root: number): Sample => {
  const stats = new Map<number, Stat>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = pid > 0 ? statOf(pid) : null;
    if (!stat) continue;
    stats.set(pid, stat);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const pids = [root];
  for (const pid of pids) pids.push(...(children.get(pid) ?? []));
  const found = pids.map((pid) => stats.get(pid)).filter((stat) => stat !== undefined);
  return {
    pids,
    cpuMs: found.reduce((sum, stat) => sum + stat.cpuMs, 0),
    rssBytes: found.reduce((sum, stat) => sum + stat.rssBytes, 0),
  };
};

interface Stat {
  readonly parent: number;
  /** CPU of the process, and of the children it has waited for. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Null when there is no such process any more. */
const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // proc(5): the fields after the name are state, ppid, ...; utime, stime, cutime and cstime are 14 to 17, rss is 24
    const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!;
    return { parent: fields[1]!, cpuMs: ticks * TICK_MS, rssBytes: fields[21]! * PAGE_BYTES };
  } catch {
    return null;
  }
};

const descriptorsOf = (pids: readonly number[]): number => {
  let count = 0;
  for (const pid of pids) {
    try {
      count += readdirSync(`/proc/${pid}/fd`).length;
    } catch {
      // it has ended meanwhile
    }
  }
  return count;
};
