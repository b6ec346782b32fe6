/** The links that our scanner finds in random tag soup against those in parse5's tree of it. */

import { scanHtml } from '../../src/parse/html/scan.ts';
import { piecedPage, woundedPage, type Chance } from '../../tests/support/broken-pages.ts';
import { mayDiffer, oracleFindings } from '../../tests/support/oracle.ts';
import type { Comparison } from './comparison.ts';

/** Percent of the pieces that change the rules for what follows. */
const RARE_PERCENT = 10;

export const openHtmlComparison = (): Comparison => ({
  name: 'html',
  against: 'parse5',
  try: async (chance: Chance) => {
    const pieced = piecedPage(chance, chance(3) === 0 ? RARE_PERCENT : 0);
    const page = chance(3) === 0 ? woundedPage(chance, pieced) : pieced;
    const ours = new Set(scanHtml(page, { productToken: 'gossamer', xhtml: false, text: false }).hrefs);
    const theirs = new Set(oracleFindings(page).hrefs);
    const onlyOurs = [...ours.difference(theirs)];
    const onlyTheirs = [...theirs.difference(ours)];
    const agreed = onlyOurs.length + onlyTheirs.length === 0;
    return {
      verdict: agreed ? 'agreed' : mayDiffer(page) ? 'known' : 'differs',
      input: page,
      says: agreed ? '' : `links: only ours ${JSON.stringify(onlyOurs)}, only theirs ${JSON.stringify(onlyTheirs)}`,
    };
  },
  close: async () => {},
});
