/** Real manuals behind a real nginx: in each scope the pages are those that the files have. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkSites } from '../../tools/doc-sites/check.ts';
import { nginxProgram, startNginx } from '../../tools/doc-sites/nginx.ts';
import { SMALL_PACKAGES, unpackManual } from '../../tools/doc-sites/packages.ts';
import { SCOPES } from '../../tools/doc-sites/walk.ts';
import { layOut, type Manual } from '../../tools/doc-sites/web.ts';
import { endBinaries } from '../support/binary.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-doc-sites-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

/** Or why they cannot be had. */
const manuals = (): readonly Manual[] | string => {
  try {
    nginxProgram();
    return SMALL_PACKAGES.map(unpackManual);
  } catch (error) {
    return (error as Error).message;
  }
};

test('a crawl by path, host or site has exactly the pages of two manuals that links lead to', async (t) => {
  const found = manuals();
  if (typeof found === 'string') return t.skip(found);
  const web = join(home, 'web');
  const sites = layOut(web, found);
  const nginx = await startNginx(web, join(home, 'nginx'));
  const place = { web, port: nginx.port, home };
  try {
    const expected: number[][] = [];
    for (const scope of SCOPES) {
      const verdicts = await checkSites(place, sites, { scope });
      for (const { site, missing, extra } of verdicts)
        assert.deepEqual({ site, missing, extra }, { site, missing: [], extra: [] }, scope);
      expected.push(verdicts.map(({ fetched }) => fetched));
    }
    // Every scope has more pages than the one before it; whatever has no seed has none in any.
    const [path, host, site] = expected as [number[], number[], number[]];
    for (const i of sites.keys()) assert.ok(50 < path[i]! && path[i]! < host[i]! && host[i]! < site[i]!, `${expected}`);
    assert.deepEqual([path.at(-1), host.at(-1), site.at(-1)], [0, 0, 0]);

    // The comparison can fail: what the crawl is told to leave out is missing.
    const [exim] = sites;
    const [verdict] = await checkSites(place, [exim!], {
      scope: 'path',
      settings: ['exclude: "*/ch-address_rewriting.html"'],
    });
    assert.deepEqual(
      verdict!.missing.map((line) => line.split(';')[0]),
      ['http://docs.exim.test/exim/manual/ch-address_rewriting.html: never asked for, not fetched'],
    );
  } finally {
    await nginx.close();
  }
});
