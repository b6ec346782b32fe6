/** The long form of the kill test: `npm run kill-rounds -- --rounds 20 --seed 7` prints one line of figures. */

import { parseArgs } from 'node:util';
import { figuresLine, killCrawl } from '../support/kill-crawl.ts';
import { onStage, plainPlan } from '../support/stage.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string' } } });
const rounds = Number(values.rounds);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error('kill-rounds: --rounds and --seed are whole numbers, such as --rounds 20 --seed 7');
  process.exit(2);
}

/** Large enough that the crawl is not over before the last kill: every round visits a site about once. */
const SITES = 80;
const sitePages = Math.max(4, Math.ceil(rounds * 0.7));

await onStage(plainPlan(SITES, SITES * sitePages, sitePages), async (stage) => {
  const figures = await killCrawl(stage, { rounds, seed });
  for (const violation of figures.violations) console.log(violation);
  console.log(figuresLine(figures));
  process.exitCode = figures.violations.length > 0 ? 1 : 0;
});
