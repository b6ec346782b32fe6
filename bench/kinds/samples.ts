/** The samples of a profile, one by one, as `perf script` writes them. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type JitMap, readJitMap } from './jit-map.ts';
import { NAMELESS, type Sample } from './table.ts';

export interface TimedSample extends Sample {
  /** The CPU time that it stands for. */
  readonly ns: number;
}

interface SampleLine extends TimedSample {
  readonly pid: string;
  readonly address: number;
}

/** `parse-1  7732    2004008    7f2d6f8058c5 [unknown] (/tmp/perf-7732.map)`: names may have blanks and parentheses. */
const LINE = /^\s*(\S.*?)\s+(\d+)\s+(\d+)\s+([0-9a-f]+) (.*?) \(([/[].*)\)$/;
/** Memory of no file, as perf calls it. */
const MADE_AT_RUN_TIME = /\/perf-\d+\.map$|^\/\/anon|^\[(JIT|anon)/;

export const readSampleLine = (line: string): SampleLine | null => {
  const [, thread, pid, ns, address, symbol, object] = LINE.exec(line) ?? [];
  if (object === undefined) return null;
  // A user who may not see the kernel's symbols sees its addresses: the upper half.
  const kernel = address!.length === 16 && address!.startsWith('ffff');
  return {
    thread: thread!,
    pid: pid!,
    ns: Number(ns),
    address: Number.parseInt(address!, 16),
    symbol: symbol!.replace(/^(non-)?virtual thunk to /, ''),
    object: kernel && object === '[unknown]' ? '[kernel]' : object,
  };
};

/** `maps` is the folder where V8 wrote which code it made. */
export async function* samplesOf(profile: string, maps: string): AsyncGenerator<TimedSample> {
  const read = new Map<string, JitMap>();
  const mapOf = (pid: string): JitMap => {
    let map = read.get(pid);
    if (map === undefined) read.set(pid, (map = readJitMap(`${maps}/perf-${pid}.map`)));
    return map;
  };
  const script = spawn('perf', ['script', '-i', profile, '-F', 'comm,pid,period,ip,sym,dso'], {
    env: { ...process.env, DEBUGINFOD_URLS: '' }, // else it may ask for symbols on the net
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(script, 'close');
  for await (const line of createInterface({ input: script.stdout })) {
    const sample = readSampleLine(line);
    if (sample === null) continue;
    const made = MADE_AT_RUN_TIME.test(sample.object);
    yield made ? { ...sample, symbol: mapOf(sample.pid)(sample.address) ?? NAMELESS } : sample;
  }
  const [code] = (await closed) as [number];
  if (code !== 0) throw new Error(`perf script ended with ${code} while it read ${profile}`);
}
