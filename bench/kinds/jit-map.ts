/** Which function the code at an address is of, where V8 made it: from the map that `--perf-basic-prof` writes. */

import { existsSync, readFileSync } from 'node:fs';

/** Name of the code at this address, if there is any. */
export type JitMap = (address: number) => string | null;

/**
 * Lines of start, length (both hex) and name, in the order they were made. Where two overlap the later one counts: code
 * that was given up made room for it. 0.2 % of the samples of a crawl lie where functions of two kinds have been.
 */
export const jitMap = (text: string): JitMap => {
  const starts: number[] = [];
  const ends: number[] = [];
  const names: string[] = [];
  let longest = 0;
  for (const line of text.split('\n')) {
    const [, start, length, name] = /^([0-9a-f]+) ([0-9a-f]+) (.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    starts.push(Number.parseInt(start!, 16));
    ends.push(starts.at(-1)! + Number.parseInt(length!, 16));
    names.push(name);
    longest = Math.max(longest, Number.parseInt(length!, 16));
  }
  const byStart = starts.map((_, i) => i).sort((a, b) => starts[a]! - starts[b]! || a - b);
  return (address) => {
    let low = 0;
    let high = byStart.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[byStart[middle]!]! <= address) low = middle + 1;
      else high = middle;
    }
    let found = -1;
    for (let i = low - 1; i >= 0 && starts[byStart[i]!]! + longest > address; i -= 1) {
      const one = byStart[i]!;
      if (ends[one]! > address && one > found) found = one;
    }
    return found < 0 ? null : names[found]!;
  };
};

/** The map of a process; an empty one when it has written none. */
export const readJitMap = (path: string): JitMap => jitMap(existsSync(path) ? readFileSync(path, 'utf8') : '');

/** `JS:*'readText file:///…/src/parse/html/text.ts:69:25` -> `readText src/parse/html/text.ts:69` in every tier. */
export const plainName = (symbol: string): string =>
  symbol
    .replace(/^(JS|Script|Eval):[~^+*]?'?\s*/, '')
    .replace(/(?:file:\/\/)?\/\S*?\/(node_modules\/)|(?:file:\/\/)?\/\S*\/((?:src|dist|bench|bin)\/)/, '$1$2')
    .replace(/(:\d+):\d+$/, '$1');
