/** A crawl of sites of manuals with the real binary, compared with what their files say. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary, startBinary, type Ran } from '../../tests/support/binary.ts';
import { compare, type Row, type Verdict } from './compare.ts';
import { walkWeb, type DocScope } from './walk.ts';
import { ELSEWHERE, type DocSite } from './web.ts';

export interface Place {
  /** The folder with a folder per host. */
  readonly web: string;
  /** Where nginx serves it. */
  readonly port: number;
  /** For the directories of crawls. */
  readonly home: string;
}

/** A crawl that takes this long is ended, and then lacks pages. */
const CRAWL_MINUTES_MAX = 20;

export interface DocCrawl {
  readonly scope: DocScope;
  /** Further lines of its file of settings. */
  readonly settings?: readonly string[];
  /** Told now and then how far the crawl is. */
  readonly say?: (line: string) => void;
}

const SAY_MS = 10_000;

/** One crawl of all sites in one scope: a verdict for each, and a last one for whatever belongs to none of them. */
export const checkSites = async (
  { web, port, home }: Place,
  sites: readonly DocSite[],
  { scope, settings = [], say }: DocCrawl,
): Promise<Verdict[]> => {
  const dir = join(home, scope);
  const lines = [
    'email: test@example.org',
    'disk-reserve: 10MiB',
    'types: html',
    'body-max: 16MiB', // a table of contents has more than the default of 2 MiB, and is read whole by the walk
    `max-duration: ${CRAWL_MINUTES_MAX}m`,
    `connect-to: "*:*:127.0.0.1:${port}"`,
    `scope: ${scope}`,
    ...settings,
    'seeds:',
    ...sites.map(({ seed }) => `  - ${seed}`),
    'sites:',
    ...sites.map(({ domain }) => `  ${domain}: { own: true, delay: 0 }`),
  ];
  writeFileSync(`${dir}.yaml`, `${lines.join('\n')}\n`);
  const crawl = startBinary(['crawl', '--config', `${dir}.yaml`, '--dir', dir]);
  const saying = setInterval(() => say?.(crawl.said().trimEnd().split('\n').at(-1)!), SAY_MS);
  try {
    good(await crawl.ended.finally(() => clearInterval(saying)));
    const listed = good(await runBinary(['pages', dir, '--format', 'jsonl']));
    const rows = listed.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
    const bySite = Map.groupBy(rows, ({ site }) => sites.find(({ domain }) => domain === site)?.name ?? ELSEWHERE);
    return [
      ...sites.map(({ name, seed }) => compare(name, walkWeb(web, seed, scope), bySite.get(name) ?? [])),
      compare(ELSEWHERE, { pages: new Map(), broken: new Map() }, bySite.get(ELSEWHERE) ?? []),
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const good = ({ code, signal, stdout, stderr }: Ran): string => {
  if (code !== 0) throw new Error(`gossamer ended with ${code ?? signal}: ${stdout}${stderr}`);
  return stdout;
};
