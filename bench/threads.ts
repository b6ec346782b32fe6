/** CPU of another process by the names of its threads, read from /proc while it lives. */

import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10; // USER_HZ is 100 on Linux
const LOOK_MS = 200;

/** What its threads have used so far, in milliseconds. Throws when it, or a thread of it, ends meanwhile. */
export const cpuByThread = (pid: number): Map<string, number> => {
  const now = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const fields = stat.slice(end + 2).split(' ');
    const ms = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    now.set(name, (now.get(name) ?? 0) + ms);
  }
  return now;
};

/** Starts to look; the function it gives stops, and answers with the last figures. */
export const threadCpu = (pid: number): (() => ReadonlyMap<string, number>) => {
  let last = new Map<string, number>();
  const look = (): void => {
    try {
      last = cpuByThread(pid);
    } catch {
      // it has ended, or a thread of it has
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    return last;
  };
};
