/** Puts the figures of a run into their page of the documentation, with its plots. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plotSvg, type Plot } from './plot.ts';

const BEGIN = '<!-- figures: begin -->';
const END = '<!-- figures: end -->';
const docs = fileURLToPath(new URL('../docs', import.meta.url));

/** Between its two marks. */
export const writeFigures = (page: string, text: string): void => {
  const file = join(docs, page);
  const before = readFileSync(file, 'utf8');
  const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)];
  if (from < 0 || to < from)
    throw new Error(`docs/${page} lacks the lines "${BEGIN}" and "${END}" between which the figures go`);
  writeFileSync(file, `${before.slice(0, from + BEGIN.length)}\n${text}\n${before.slice(to)}`);
};

export const writePlots = (plots: Readonly<Record<string, Plot>>, dir = join(docs, 'plots')): void => {
  mkdirSync(dir, { recursive: true });
  for (const [name, plot] of Object.entries(plots)) writeFileSync(join(dir, `${name}.svg`), plotSvg(plot));
};
