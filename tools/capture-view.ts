/**
 * `node tools/capture-view.ts`: crawls the small web on terminals of several widths, and puts what stands on them after
 * some seconds into docs/live-view.md.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoPlan } from '../src/world/presets.ts';
import { startInView } from '../tests/support/in-terminal.ts';
import { screenOf, type ScreenSize } from '../tests/support/screen.ts';
import { onStage } from '../tests/support/stage.ts';

const PAGE = new URL('../docs/live-view.md', import.meta.url);
const SIZES: readonly ScreenSize[] = [
  { columns: 50, rows: 10 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 30 },
  { columns: 210, rows: 40 },
];
const CRAWLED_MS = 8_000;
/** Everything below this line of the page is made here. */
const BELOW = '<!-- captures: node tools/capture-view.ts -->';

const capture = async (size: ScreenSize): Promise<string> => {
  let lines: readonly string[] = [];
  await onStage(demoPlan, async (stage) => {
    const flags = { delay: '500ms', timeout: '3s', 'max-pages': 4_000 };
    const words = stage.crawlWords(flags).map((word) => (word === stage.dir ? './crawl' : word));
    const run = startInView(words, size, { cwd: stage.home });
    await sleep(CRAWLED_MS);
    ({ lines } = screenOf(run.said(), size));
    run.send('SIGKILL'); // its terminal is gone then, and the crawl with it
    await run.ended;
  });
  return `## ${size.columns} columns, ${size.rows} lines\n\n\`\`\`\n${lines.join('\n').trimEnd()}\n\`\`\`\n`;
};

const captures: string[] = [];
for (const size of SIZES) captures.push(await capture(size));
const [above] = readFileSync(PAGE, 'utf8').split(BELOW);
writeFileSync(PAGE, `${above}${BELOW}\n\n${captures.join('\n')}`);
