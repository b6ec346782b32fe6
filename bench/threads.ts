/** CPU of another process by the names of its threads, read from /proc while it lives. */

import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10; // USER_HZ is 100 on Linux
const LOOK_MS = 200;

interface ThreadCpu {
  readonly name: string;
  readonly ms: number;
}

/** By the id of the thread. Throws when the process ends meanwhile; a thread that ends is left out. */
const cpuByTask = (pid: number): Map<string, ThreadCpu> => {
  const now = new Map<string, ThreadCpu>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = statOf(pid, task);
    if (stat === null) continue;
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const ms = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    now.set(task, { name: stat.slice(stat.indexOf('(') + 1, end), ms });
  }
  return now;
};

const statOf = (pid: number, task: string): string | null => {
  try {
    return readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
  } catch {
    return null; // it ended since its name was read
  }
};

const byName = (threads: Iterable<ThreadCpu>): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const { name, ms } of threads) sums.set(name, (sums.get(name) ?? 0) + ms);
  return sums;
};

/** What the threads of a process that live now have used, in milliseconds. Throws when the process has ended. */
export const cpuByThread = (pid: number): Map<string, number> => byName(cpuByTask(pid).values());

/** Starts to look; the function it gives stops, and answers with what every thread that was ever seen has used. */
export const threadCpu = (pid: number): (() => ReadonlyMap<string, number>) => {
  // Threads end before their process does: the last figure of each counts.
  const seen = new Map<string, ThreadCpu>();
  const look = (): void => {
    try {
      for (const [task, used] of cpuByTask(pid)) seen.set(task, used);
    } catch {
      // it has ended
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    return byName(seen.values());
  };
};
