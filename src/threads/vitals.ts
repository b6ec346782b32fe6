/** What every thread tells of itself, whatever its work: heap, memory, CPU, and how late its event loop is. */

import { getHeapStatistics } from 'node:v8';
import { cellOf, openMeter, type Meter } from '../observe/metrics/cells.ts';
import type { MetricName } from '../observe/metrics/table.ts';
import type { LoopDelay } from '../observe/readings.ts';
import { openLoopDelays, type LoopDelays } from './loop-delay.ts';

/** How often it is looked at; the first look is sooner, so that a short crawl has numbers, too. */
const LOOK_MS = 5_000;
const FIRST_LOOK_MS = 250;

export interface Vitals {
  readonly delays: LoopDelays;
  /** Looks now. */
  look(): void;
  close(): void;
}

/** Watches its thread without keeping it alive. A thread that has loop delays of its own gives them. */
export const openVitals = (cells: SharedArrayBuffer, delays: LoopDelays = openLoopDelays()): Vitals => {
  const meter = openMeter(cells);
  const heap = cellOf('heap_bytes');
  const memory = cellOf('thread_memory_bytes');
  const cpu = cellOf('thread_cpu_seconds_total');
  const [recently, overall] = (['event_loop_delay_seconds', 'event_loop_delay_run_seconds'] as const).map((name) =>
    delayWriter(meter, name),
  ) as [DelayWriter, DelayWriter];
  let cpuMicros = 0;
  const look = (): void => {
    const { used_heap_size: used, total_heap_size: total, external_memory: outside } = getHeapStatistics();
    meter.set(heap, used);
    meter.set(memory, total + outside);
    const { user, system } = process.threadCpuUsage();
    // Added, not set: a thread before this one with the same name used some, too.
    meter.add(cpu, (user + system - cpuMicros) / 1e6);
    cpuMicros = user + system;
    recently(delays.recent());
    overall(delays.overall());
  };
  const first = setTimeout(look, FIRST_LOOK_MS).unref();
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    delays,
    look,
    close: () => {
      clearTimeout(first);
      clearInterval(timer);
      delays.close();
    },
  };
};

type DelayWriter = (delay: LoopDelay) => void;

const delayWriter = (meter: Meter, name: MetricName): DelayWriter => {
  const cells = ['50', '99', '100'].map((percentile) => cellOf(name, { percentile }));
  return ({ p50Ms, p99Ms, maxMs }) => [p50Ms, p99Ms, maxMs].forEach((ms, i) => meter.set(cells[i]!, ms / 1_000));
};
