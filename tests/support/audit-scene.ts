/** What the tests of the audit share: requests that were planted, and what is found of them. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditCrawl, type AuditReport } from '../../src/care/audit.ts';
import type { UncheckedReason, ViolationKind } from '../../src/care/audit/findings.ts';
import type { Others } from '../../src/folder/roster.ts';
import { digestOf, plantCrawl, type Planted, type PlantedRequest, type PlantedRobots } from './planted-crawl.ts';

export const RULES = 'User-agent: *\nDisallow: /private/\n';
export const SITE = 'http://a.example';
/** A first visit: robots.txt, and the page right after it. */
export const ROBOTS: PlantedRobots = { at: 0, url: `${SITE}/robots.txt`, text: RULES };
export const FIRST: readonly PlantedRequest[] = [
  { at: 0, url: `${SITE}/robots.txt`, lease: 1 },
  { at: 150, url: `${SITE}/`, lease: 1, rules: digestOf(RULES) },
];
export const page = (at: number, path: string, more: Partial<PlantedRequest> = {}): PlantedRequest => ({
  at,
  url: `${SITE}${path}`,
  rules: digestOf(RULES),
  ...more,
});

export const inFolder = async <T>(story: (home: string) => Promise<T>): Promise<T> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-audit-'));
  try {
    return await story(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

const NOBODY: Others = { missing: [], unknown: null };
/** Where the store could not be asked who else took part. */
export const SOMEBODY: Others = { missing: [], unknown: 'it does not answer' };

export const audit = (
  dirs: readonly string[],
  site: string | null = null,
  others: Others = NOBODY,
): Promise<AuditReport> => auditCrawl({ dirs, site, others, onProgress: () => {} });

export const audited = (planted: Planted, change: (dir: string) => void = () => {}): Promise<AuditReport> =>
  inFolder(async (home) => {
    const dir = join(home, 'crawl');
    await plantCrawl(dir, planted);
    change(dir);
    return audit([dir]);
  });

export const assertFound = (
  report: AuditReport,
  kinds: readonly ViolationKind[],
  unchecked: Partial<Record<UncheckedReason, number>> = {},
): void => {
  assert.deepEqual(
    report.findings.violations.map(({ kind }) => kind),
    kinds,
    report.findings.violations.map(({ says }) => says).join('\n'),
  );
  assert.deepEqual(
    { count: report.findings.count, unchecked: report.findings.unchecked, damage: report.damage },
    { count: kinds.length, unchecked, damage: [] },
  );
};
