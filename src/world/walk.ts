/** Every URL that a right crawl fetches, found by a walk over the model. */

import type { Request, Sheet } from './sheet.ts';

/** What of a world is walked over. */
export interface Ground {
  seeds(): string[];
  look(request: Request): Sheet;
  refusesTls(host: string): boolean;
  allows(url: URL): boolean;
}

export interface Reachable {
  /** Answered: pages, redirects, errors of the 4xx kind. Canonical URLs. */
  readonly pages: ReadonlySet<string>;
  /** Linked, but robots.txt forbids it. */
  readonly forbidden: ReadonlySet<string>;
  /** Linked, but never answered properly: reset, hanging, 5xx, or behind a robots.txt that is. */
  readonly failing: ReadonlySet<string>;
  /** Two right crawls may differ about these: a report complains neither way. */
  readonly tolerated: ReadonlySet<string>;
}

interface Step {
  readonly url: string;
  readonly hops: number;
  readonly sure: boolean;
}

/** Redirects in a row that are followed for sure; about one more, two crawlers may differ. */
const HOPS_MAX = 5;

export const reachableFrom = (ground: Ground): Reachable => {
  const sets = {
    pages: new Set<string>(),
    forbidden: new Set<string>(),
    failing: new Set<string>(),
    tolerated: new Set<string>(),
  };
  const open: Step[] = [];
  for (const line of ground.seeds()) {
    if (line.includes('://')) {
      open.push({ url: line, hops: 0, sure: true });
      continue;
    }
    open.push({ url: `https://${line}/`, hops: 0, sure: true });
    // A bare domain: http is tried where https cannot be reached.
    if (ground.refusesTls(line)) open.push({ url: `http://${line}/`, hops: 0, sure: true });
  }
  const sure = new Set<string>();
  const unsure: Step[] = [];
  for (let step = open.pop() ?? unsure.pop(); step; step = open.pop() ?? unsure.pop()) {
    if (sure.has(step.url) || sets.tolerated.has(step.url)) continue;
    const sheet = sort(ground, sets, step);
    if (step.sure) sure.add(step.url);
    if (!sheet) continue;
    // What is surely found is walked first, so that it is not taken for doubtful.
    const go = (next: Step): unknown => (next.sure ? open : unsure).push(next);
    if (sheet.redirect !== '' && step.hops <= HOPS_MAX) {
      go({ url: sheet.redirect, hops: step.hops + 1, sure: step.sure && step.hops < HOPS_MAX });
    }
    for (const link of sheet.links) {
      if (link.follow !== 'no') go({ url: link.to, hops: 0, sure: step.sure && link.follow === 'yes' });
    }
  }
  return sets;
};

type Sets = { readonly [K in keyof Reachable]: Set<string> };

/** Puts a URL into its set; the sheet when there is something to go on from. */
const sort = (ground: Ground, sets: Sets, { url, sure }: Step): Sheet | null => {
  const parsed = new URL(url);
  const scheme = parsed.protocol === 'https:' ? 'https' : 'http';
  const path = parsed.pathname + parsed.search;
  const robots = ground.look({ scheme, host: parsed.host, path: '/robots.txt' });
  const sheet = ground.look({ scheme, host: parsed.host, path });
  const set = robots.failing || sheet.failing ? sets.failing : ground.allows(parsed) ? sets.pages : sets.forbidden;
  if (set !== sets.pages) {
    set.add(url);
    return null;
  }
  (sure ? sets.pages : sets.tolerated).add(url);
  return sheet;
};
