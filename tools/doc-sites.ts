/**
 * `npm run doc-sites [-- NAME...]`: crawls manuals of real programs, served by nginx, by path, host and site, and
 * compares the pages with those that the files on disk have. Exit code 1: something differs.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endBinaries } from '../tests/support/binary.ts';
import { checkSites } from './doc-sites/check.ts';
import type { Verdict } from './doc-sites/compare.ts';
import { startNginx } from './doc-sites/nginx.ts';
import { DOC_PACKAGES, unpackManual } from './doc-sites/packages.ts';
import { SCOPES } from './doc-sites/walk.ts';
import { layOut, type DocSite, type Manual } from './doc-sites/web.ts';

/** Of one site and scope. */
const SHOWN_MAX = 20;
const COLUMNS = ['site      ', 'scope', 'expected', 'fetched', 'missing', 'extra', 'broken links'];

const names = process.argv.slice(2);
const unknown = names.find((name) => !DOC_PACKAGES.some((one) => one.name === name));
if (unknown !== undefined) {
  console.error(`doc-sites: there is no ${unknown}; choose from ${DOC_PACKAGES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const packages = DOC_PACKAGES.filter(({ name }) => names.length === 0 || names.includes(name));

let isStopped = false;
process.once('SIGINT', () => {
  isStopped = true;
  endBinaries();
});

const unpacked = (): Manual[] =>
  packages.map((one) => {
    console.log(`unpacking ${one.debian}`);
    return unpackManual(one);
  });

const rowOf = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell, i) => (i < 2 ? String(cell).padEnd(COLUMNS[i]!.length) : String(cell).padStart(COLUMNS[i]!.length)))
    .join('  ');

const differencesOf = ({ missing, extra }: Verdict): string[] => [
  ...missing.map((line) => `missing: ${line}`),
  ...extra.map((line) => `extra: ${line}`),
];

const say = (line: string): void => console.log(`  ${line}`);

/** Crawls the sites in every scope, and gives the rows of the table with how many of them differ. */
const checkAll = async (sites: readonly DocSite[], home: string): Promise<{ table: string[]; differing: number }> => {
  const web = join(home, 'web');
  const nginx = await startNginx(web, join(home, 'nginx'));
  const table: string[] = [];
  let differing = 0;
  try {
    for (const scope of SCOPES) {
      const begun = performance.now();
      console.log(`crawling ${sites.length} sites with --scope ${scope}`);
      for (const verdict of await checkSites({ web, port: nginx.port, home }, sites, { scope, say })) {
        const { site, expected, fetched, missing, extra, broken } = verdict;
        table.push(rowOf([site, scope, expected, fetched, missing.length, extra.length, broken]));
        const lines = differencesOf(verdict);
        if (lines.length > 0) differing++;
        for (const line of lines.slice(0, SHOWN_MAX)) say(line);
        if (lines.length > SHOWN_MAX) say(`and ${lines.length - SHOWN_MAX} more of ${site}`);
      }
      say(`compared after ${Math.round((performance.now() - begun) / 1_000)} s`);
    }
  } finally {
    await nginx.close();
  }
  return { table, differing };
};

const home = mkdtempSync(join(tmpdir(), 'gossamer-doc-sites-'));
try {
  mkdirSync(join(home, 'web'));
  const { table, differing } = await checkAll(layOut(join(home, 'web'), unpacked()), home);
  console.log(`\n${[rowOf(COLUMNS), ...table].join('\n')}\n`);
  console.log(differing === 0 ? 'every crawl is as the files say' : `${differing} of ${table.length} rows differ`);
  process.exitCode = differing === 0 ? 0 : 1;
} catch (error) {
  console.error(`doc-sites: ${isStopped ? 'stopped' : (error as Error).message}`);
  process.exitCode = isStopped ? 130 : 2;
} finally {
  rmSync(home, { recursive: true });
}
