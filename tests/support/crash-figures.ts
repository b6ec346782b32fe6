/** What a crash harness counts, and the one line it prints. */

export interface CrashFigures<Hit extends string = string> {
  readonly hits: Record<Hit, number>;
  crawls: number;
  /** Runs begun: by `crawl` or `join` while a directory was new, by `resume` from then on. */
  starts: number;
  resumes: number;
  pages: number;
  archivedOnce: number;
  gaps: number;
  /** Requests in the ledgers, each compared with what the small web saw. */
  noted: number;
  /** The shortest gap less the delay of its crawl. */
  spareMs: number;
  /** Stops after which a check found the whole crawl as it must be. */
  checksClean: number;
  readonly violations: string[];
}

export const newFigures = <Hit extends string>(hits: readonly Hit[]): CrashFigures<Hit> => ({
  hits: Object.fromEntries(hits.map((hit) => [hit, 0])) as Record<Hit, number>,
  crawls: 0,
  starts: 0,
  resumes: 0,
  pages: 0,
  archivedOnce: 0,
  gaps: 0,
  noted: 0,
  spareMs: Infinity,
  checksClean: 0,
  violations: [],
});

export const hitsTotal = ({ hits }: CrashFigures): number => Object.values(hits).reduce((sum, n) => sum + n, 0);

/** `what` is the run, `crawls` how they were made, `checks` what was checked and by what. */
export const crashLine = (
  figures: CrashFigures,
  { what, crawls: made, checks }: Readonly<Record<'what' | 'crawls' | 'checks', string>>,
): string => {
  const { hits, crawls, starts, resumes, pages, archivedOnce, gaps, noted, spareMs, checksClean, violations } = figures;
  return (
    `${what}: ${hitsTotal(figures)} hits (${Object.entries(hits)
      .map(([hit, n]) => `${n} ${hit}`)
      .join(', ')}) on ${crawls} ${made}; ` +
    `${starts} starts, ${resumes} resumes; ${pages} pages, ${archivedOnce} archived once; ` +
    `${gaps} gaps checked, shortest gap - delay ${spareMs.toFixed(2)} ms; ${noted} requests in the ledger as the small web saw them; ${checksClean} ${checks}; ${violations.length} violations`
  );
};
