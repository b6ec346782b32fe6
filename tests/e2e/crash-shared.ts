/**
 * Kills of either process and of the server: `npm run crash-shared -- --store redis --kills 100 --server-kills 20
 * --seed 7` prints one line of figures.
 */

import { parseArgs } from 'node:util';
import { endBinaries } from '../support/binary.ts';
import { crashLine, newFigures } from '../support/crash-figures.ts';
import { crashSharedCrawls } from '../support/shared-crash.ts';
import { ALL_SHARED_HITS, killsOf } from '../support/shared-hits.ts';
import { SHARED_STORES, type SharedStoreName } from '../support/shared-servers.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: '' },
    kills: { type: 'string', default: '100' },
    'server-kills': { type: 'string', default: '20' },
    seed: { type: 'string' },
  },
});
const kills = Number(values.kills);
const serverKills = Number(values['server-kills']);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (
  !Object.hasOwn(SHARED_STORES, values.store) ||
  ![kills, serverKills, seed].every((n) => Number.isSafeInteger(n) && n >= 0) ||
  kills + serverKills === 0
) {
  console.error(
    `crash-shared: --store is one of ${Object.keys(SHARED_STORES).join(', ')}; --kills, --server-kills and --seed are whole numbers, such as --kills 100 --server-kills 20 --seed 7`,
  );
  process.exit(2);
}
const store = values.store as SharedStoreName;

/** 120 hits take about half an hour on two cores. */
const MS_MAX = 5_400_000;
const PROGRESS_MS = 5_000;

const figures = newFigures(ALL_SHARED_HITS);
const line = (): string =>
  crashLine(figures, {
    what: `${store}, seed ${seed}`,
    crawls: 'crawls by two processes',
    checks: 'checks of both directories clean by verify',
  });
process.on('exit', endBinaries);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    console.log(`stopped by ${signal}: ${line()}`);
    process.exit(1);
  });
}

const server = await SHARED_STORES[store]();
console.log(`${store}, seed ${seed}: ${kills} kills of a process and ${serverKills} of the server`);
let told = 0;
const tellViolations = (): void => {
  while (told < figures.violations.length) console.log(figures.violations[told++]);
};
const ticker = setInterval(() => {
  tellViolations();
  console.log(
    `${killsOf(figures)} kills of a process, ${figures.hits.server} of the server, ${figures.checksClean} checks clean on ${figures.crawls} crawls, ${figures.violations.length} violations`,
  );
}, PROGRESS_MS);
try {
  await crashSharedCrawls({ server, figures, kills, serverKills, seed, msMax: MS_MAX });
} finally {
  clearInterval(ticker);
  tellViolations();
  console.log(line());
  await server.remove();
}
process.exitCode = figures.violations.length > 0 ? 1 : 0;
