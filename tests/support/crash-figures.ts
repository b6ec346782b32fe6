/** What a crash harness counts, and the one line it prints. */

import { ALL_HITS, type Hit } from './crash-hits.ts';

export interface CrashFigures {
  readonly hits: Record<Hit, number>;
  crawls: number;
  /** Runs begun: by `crawl` while there was no crawl yet, by `resume` from then on. */
  starts: number;
  resumes: number;
  pages: number;
  archivedOnce: number;
  gaps: number;
  /** Calls in the ledgers, each compared with what the small web saw. */
  noted: number;
  /** The shortest gap less the delay of its crawl. */
  spareMs: number;
  checksClean: number;
  readonly violations: string[];
}

export const newFigures = (): CrashFigures => ({
  hits: Object.fromEntries(ALL_HITS.map((hit) => [hit, 0])) as Record<Hit, number>,
  crawls: 0, starts: 0, resumes: 0, pages: 0, archivedOnce: 0, gaps: 0, noted: 0, spareMs: Infinity, checksClean: 0, violations: [],
});

export const hitsTotal = ({ hits }: CrashFigures): number => Object.values(hits).reduce((sum, n) => sum + n, 0);

export const crashLine = (figures: CrashFigures, { seed, check }: { readonly seed: number; readonly check: string }): string => {
  const { hits, crawls, starts, resumes, pages, archivedOnce, gaps, noted, spareMs, checksClean, violations } = figures;
  return `seed ${seed}: ${hitsTotal(figures)} hits (${ALL_HITS.map((hit) => `${hits[hit]} ${hit}`).join(', ')}) on ${crawls} crawls; ` +
    `${starts} starts, ${resumes} resumes; ${pages} pages, ${archivedOnce} archived once; ` +
    `${gaps} gaps checked, shortest gap - delay ${spareMs.toFixed(2)} ms; ${noted} calls in the ledger as the small web saw them; ${checksClean} checks clean by ${check}; ${violations.length} violations`;
};
