/**
 * `npm run fuzz -- --minutes N [--only url,html,...] [--seed S]`: searches for inputs whose cost grows faster than
 * their size; with `--against`, for inputs that another reader reads otherwise. Exit code 1: something was found.
 */

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createChance, type Chance } from '../tests/support/broken-pages.ts';
import { openHttpComparison } from './fuzz/against-http.ts';
import { openHtmlComparison } from './fuzz/against-parse5.ts';
import type { Comparison } from './fuzz/comparison.ts';
import { troubleOf, type Part } from './fuzz/growth.ts';
import { PARTS } from './fuzz/parts.ts';
import { makeShape } from './fuzz/shapes.ts';

const SAY_MS = 2_000;
/** Of one part: who mends these searches again. */
const FOUND_MAX = 20;
const SHOWN_CHARS_MAX = 500;

/** What is searched, an input at a time: gives what was found, and null when nothing was. */
interface Search {
  readonly name: string;
  readonly chance: Chance;
  readonly step: (chance: Chance) => Promise<string | null>;
  readonly close: () => Promise<void>;
  tried: number;
  known: number;
  readonly found: string[];
}

const refuse = (why: string): never => {
  console.error(`fuzz: ${why}`);
  process.exit(2);
};
const readFlags = () => {
  try {
    const options = {
      minutes: { type: 'string', default: '1' },
      only: { type: 'string' },
      seed: { type: 'string' },
      against: { type: 'boolean', default: false },
    } as const;
    return parseArgs({ options }).values;
  } catch {
    return refuse(
      `npm run fuzz -- [--minutes N] [--only ${PARTS.map(({ name }) => name).join(',')}] [--seed N] [--against]`,
    );
  }
};
const values = readFlags();
const minutes = Number(values.minutes);
if (!(minutes > 0)) refuse(`--minutes ${values.minutes} is not a number of minutes`);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
if (!Number.isSafeInteger(seed)) refuse(`--seed ${values.seed} is not a whole number`);

const grows = (part: Part): Search => ({
  ...begun(part.name),
  step: async (chance) => {
    const trouble = troubleOf(part, makeShape(chance, part.pieces));
    if (trouble === null) return null;
    const points = trouble.growth.points.map(([characters, ms]) => `${characters}: ${ms.toFixed(1)} ms`).join(', ');
    return `cost grows by the power ${trouble.growth.exponent.toFixed(2)} (${points}): ${JSON.stringify(trouble.shape)}`;
  },
});

const compares = (comparison: Comparison): Search => {
  const search: Search = {
    ...begun(comparison.name),
    close: comparison.close,
    step: async (chance) => {
      const { verdict, input, says } = await comparison.try(chance);
      if (verdict === 'known') search.known++;
      return verdict === 'differs' ? `${says}: ${JSON.stringify(input).slice(0, SHOWN_CHARS_MAX)}` : null;
    },
  };
  return search;
};

const begun = (name: string): Search => ({
  name,
  chance: createChance(seed),
  step: async () => null,
  close: async () => {},
  tried: 0,
  known: 0,
  found: [],
});

const all = values.against
  ? [compares(await openHttpComparison()), compares(openHtmlComparison())]
  : PARTS.map((part) => grows(part));
const wanted = values.only?.split(',') ?? all.map(({ name }) => name);
const unknown = wanted.find((name) => !all.some((one) => one.name === name));
if (unknown !== undefined)
  refuse(`there is nothing named ${unknown}: choose of ${all.map(({ name }) => name).join(', ')}`);
const searches = all.filter(({ name }) => wanted.includes(name));

let isOver = false;
process.once('SIGINT', () => (isOver = true));
const until = performance.now() + minutes * 60_000;
let saidAt = performance.now();

const say = (): void => {
  if (performance.now() - saidAt < SAY_MS) return;
  saidAt = performance.now();
  const tried = searches.map((search) => `${search.name} ${search.tried}`).join(', ');
  const found = searches.reduce((sum, search) => sum + search.found.length, 0);
  console.log(`${Math.ceil((until - saidAt) / 1_000)} s left; tried: ${tried}; found: ${found}`);
};

console.log(`seed ${seed}, ${minutes} min, ${searches.map(({ name }) => name).join(', ')}`);
/** Long enough that the compiler knows the code, short enough that all get a turn before a person loses patience. */
const TURN_MS = 1_000;
while (!isOver && performance.now() < until && searches.some(({ found }) => found.length < FOUND_MAX)) {
  for (const search of searches) {
    const turnEnds = Math.min(until, performance.now() + TURN_MS);
    while (!isOver && performance.now() < turnEnds && search.found.length < FOUND_MAX) {
      const found = await search.step(search.chance);
      search.tried++;
      if (found !== null) {
        search.found.push(found);
        console.log(`${search.name}: ${found}`);
      }
      say();
      if (search.tried % 16 === 0) await new Promise((resolve) => setImmediate(resolve)); // a signal may have come
    }
  }
}
for (const { close } of all) await close();

console.log(`\nseed ${seed}`);
for (const { name, tried, known, found } of searches) {
  const beside = known > 0 ? `, ${known} differ in known ways` : '';
  console.log(`${name}: ${tried} tried${beside}, ${found.length} found`);
  for (const one of found) console.log(`  ${one}`);
}
process.exitCode = searches.some(({ found }) => found.length > 0) ? 1 : 0;
