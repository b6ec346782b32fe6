/**
 * The long form of the crash test: `npm run crash -- --kills 200 --seed 7` hits crawls and prints one line of figures.
 */

import { parseArgs } from 'node:util';
import { diceFor } from '../../src/world/random.ts';
import { endBinaries } from '../support/binary.ts';
import { crashCrawls } from '../support/crash-crawl.ts';
import { unmountDisks } from '../support/crash-disk.ts';
import { crashLine, hitsTotal, newFigures } from '../support/crash-figures.ts';
import { ALL_HITS, type Hit } from '../support/crash-hits.ts';
import { chooseCheck } from '../support/crash-judge.ts';
import { possibleHits } from '../support/crash-possible.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' }, seed: { type: 'string' } } });
const kills = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed)) {
  console.error('crash: --kills and --seed are whole numbers, such as --kills 200 --seed 7');
  process.exit(2);
}
process.on('exit', () => {
  endBinaries();
  unmountDisks();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

/** Half of all hits are kill -9; a long pause makes sites rest for a minute, so it is rare. */
const KILL_SHARE = 2;
const LONG_PAUSE_EVERY = 5;

const possible = await possibleHits();
for (const hit of ALL_HITS)
  if (!possible.includes(hit)) console.log(`left out, because it is not possible here: ${hit}`);
const others = possible.filter((hit) => hit !== 'kill' && hit !== 'long pause');
const dice = diceFor(seed);
const draw = (): Hit => {
  if (dice(KILL_SHARE) === 0) return 'kill';
  const hit = others[dice(others.length)] as Hit;
  return hit === 'pause' && dice(LONG_PAUSE_EVERY) === 0 ? 'long pause' : hit;
};

const stopped = await chooseCheck();
const figures = newFigures(ALL_HITS);
console.log(`seed ${seed}: ${kills} hits; stopped crawls are checked by ${stopped.name}`);
const ticker = setInterval(
  () => console.log(`${hitsTotal(figures)} hits on ${figures.crawls} crawls, ${figures.violations.length} violations`),
  30_000,
);
try {
  await crashCrawls(Array.from({ length: kills }, draw), { seed, stopped, figures });
} finally {
  clearInterval(ticker);
  for (const violation of figures.violations) console.log(violation);
  console.log(
    crashLine(figures, { what: `seed ${seed}`, crawls: 'crawls', checks: `checks clean by ${stopped.name}` }),
  );
}
process.exitCode = figures.violations.length > 0 ? 1 : 0;
