/** How long the cores of this machine have been in use, whoever used them. */

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export interface CoreTimes {
  /** Time of all cores together, and how much of it they were in use; only differences mean something. */
  readonly coreMs: number;
  readonly coreBusyMs: number;
}

/** Linux says it in one line; `os.cpus` opens a file for every core there, some of which answer slowly. */
export const coreTimes = (): CoreTimes => {
  let stat: string;
  try {
    stat = readFileSync('/proc/stat', 'latin1');
  } catch {
    return timesOfCpus(); // another system, or no descriptor is left
  }
  return readStat(stat) ?? timesOfCpus();
};

/** In ticks of a hundredth of a second (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
export const readStat = (stat: string): CoreTimes | null => {
  const match = /^cpu +(\d[\d ]*)$/m.exec(stat);
  if (!match) return null;
  const ticks = match[1]!.split(' ').slice(0, 8).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  return { coreMs: 10 * all, coreBusyMs: 10 * (all - (ticks[3] ?? 0) - (ticks[4] ?? 0)) };
};

const timesOfCpus = (): CoreTimes => {
  let [coreMs, coreBusyMs] = [0, 0];
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.idle + times.irq;
    coreMs += all;
    coreBusyMs += all - times.idle;
  }
  return { coreMs, coreBusyMs };
};
