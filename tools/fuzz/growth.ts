/** How the cost of work grows with the size of its input, measured at sizes that double. */

import { grown, simpler, type Shape } from './shapes.ts';

/** What is searched for trouble. */
export interface Part {
  readonly name: string;
  /** What inputs are made of. */
  readonly pieces: readonly string[];
  /** Characters of the smallest and the largest input: a ceiling of the program, or more than a page has. */
  readonly charactersMin: number;
  readonly charactersMax: number;
  /** Growth of what costs less than this at its largest harms nobody. */
  readonly harmlessMs: number;
  readonly work: (input: string) => void;
}

/** What one run of the work costs, in milliseconds. */
export type CostOf = (work: () => void) => number;

export interface Growth {
  /** Characters and milliseconds, the smallest first. */
  readonly points: readonly (readonly [characters: number, ms: number])[];
  /** 1 for cost in proportion to size, 2 for its square. */
  readonly exponent: number;
}

/** Cost in proportion with a logarithm, and the noise of a machine, stay below it; a square is above. */
export const EXPONENT_MAX = 1.5;
/** Larger inputs of a shape that costs this much need not be tried. */
const LONG_MS = 300;
/** Below this a clock measures itself. */
const MEASURABLE_MS = 0.2;

/** The CPU of this thread, so that a busy machine does not count; the least of some tries, so that a pause does not. */
export const cpuMsOf: CostOf = (work) => {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
};

interface Look {
  /** Each input has so many times the characters of the one before. */
  readonly factor: number;
  readonly tries: number;
}

/** Most shapes are harmless, and a glance shows it. */
const GLANCE: Look = { factor: 4, tries: 1 };
const CLOSELY: Look = { factor: 2, tries: 3 };
/** What looks like less at a glance is not looked at closely. */
const GLANCE_EXPONENT_MIN = 1.25;

const pointsOf = (part: Part, shape: Shape, { factor, tries }: Look, costOf: CostOf): Growth['points'] => {
  const points: [number, number][] = [];
  const measure = (size: number): [number, number] => {
    const input = grown(shape, size);
    let ms = Infinity;
    for (let i = 0; i < tries && (i === 0 || ms < LONG_MS); i++) {
      const once = costOf(() => part.work(input));
      ms = Math.min(ms, once);
    }
    return [input.length, ms];
  };
  part.work(grown(shape, part.charactersMin / factor)); // what runs for the first time is slow whatever its size
  for (let size = part.charactersMin; size <= part.charactersMax; size *= factor) {
    const [characters, ms] = measure(size);
    if (ms >= MEASURABLE_MS) points.push([characters, ms]);
    if (ms > LONG_MS) break;
  }
  // What is slow from the start is looked at below it.
  for (let size = part.charactersMin / factor; points.length < 3 && (points.at(-1)?.[1] ?? 0) > LONG_MS; size /= factor)
    points.unshift(measure(size));
  return points;
};

const exponentOf = ([fromChars, fromMs]: Growth['points'][number], [toChars, toMs]: Growth['points'][number]): number =>
  Math.log(toMs / fromMs) / Math.log(toChars / fromChars);

/** Null when no input is large enough to be measured. */
export const growthOf = (part: Part, shape: Shape, costOf: CostOf = cpuMsOf): Growth | null => {
  const points = pointsOf(part, shape, CLOSELY, costOf);
  // From n to 4n; over a longer way the caches of the machine count, too.
  const [from, , to] = points.slice(-3);
  return from && to ? { points, exponent: exponentOf(from, to) } : null;
};

const mayBeTrouble = (part: Part, shape: Shape, costOf: CostOf): boolean => {
  const [from, to] = pointsOf(part, shape, GLANCE, costOf).slice(-2);
  return from !== undefined && to !== undefined && exponentOf(from, to) > GLANCE_EXPONENT_MIN;
};

export const isTrouble = ({ harmlessMs }: Part, growth: Growth | null): growth is Growth =>
  growth !== null && growth.exponent > EXPONENT_MAX && growth.points.at(-1)![1] > harmlessMs;

export interface Trouble {
  readonly part: string;
  readonly shape: Shape;
  readonly growth: Growth;
}

/** A garbage collection at the wrong moment looks like trouble once, hardly twice. */
const LOOKS = 2;

/** The shape made as simple as it can be while it is trouble; null when it is none, also at a second look. */
export const troubleOf = (part: Part, shape: Shape, costOf: CostOf = cpuMsOf): Trouble | null => {
  if (!mayBeTrouble(part, shape, costOf)) return null;
  let found: Growth | null = null;
  for (let look = 0; look < LOOKS; look++) {
    found = growthOf(part, shape, costOf);
    if (!isTrouble(part, found)) return null;
  }
  if (found === null) return null;
  let smallest = shape;
  for (let tried = 0, ways = simpler(smallest); tried < ways.length; tried++) {
    const growth = growthOf(part, ways[tried]!, costOf);
    if (!isTrouble(part, growth)) continue;
    [smallest, found] = [ways[tried]!, growth];
    ways = simpler(smallest);
    tried = -1;
  }
  return { part: part.name, shape: smallest, growth: found };
};
