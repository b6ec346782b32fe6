/** Whether requests that name themselves in a new way, by a change to the crawl, obey what else that change says. */

import type { Seen } from '../../src/world/seen.ts';

export interface Obeyed {
  /** Requests under the change. */
  readonly count: number;
  readonly wrong: readonly string[];
}

export interface Said {
  /** Begins the User-Agent from the change on. */
  readonly userAgent: string;
  readonly delayMs: number;
  readonly excluded: readonly string[];
}

/**
 * A change of the User-Agent shows which visits began under it, so no clock has to be asked: none of them is sooner
 * than the new delay after whatever came before it, and none goes to a site that is excluded.
 */
export const obeyed = (requests: readonly Seen[], { userAgent, delayMs, excluded }: Said): Obeyed => {
  const under = requests.filter((seen) => seen.userAgent.startsWith(userAgent));
  const pages = Map.groupBy(
    requests.filter(({ kind }) => kind === 'page'),
    ({ site }) => site,
  );
  const early = [...pages.values()].flatMap((visits) => {
    const inOrder = visits.toSorted((a, b) => a.at - b.at);
    return inOrder.flatMap((seen, i) => {
      const before = inOrder[i - 1];
      if (!before || !seen.userAgent.startsWith(userAgent)) return [];
      const sinceMs = seen.at - before.at;
      // What the world reads a little later than it was sent makes the next one look early by as much.
      return sinceMs < delayMs - 50 ? [`${seen.host}${seen.path} came ${Math.round(sinceMs)} ms after the last`] : [];
    });
  });
  const unwanted = under.filter(({ host }) => excluded.includes(host)).map(({ host, path }) => `${host}${path}`);
  return { count: under.length, wrong: [...early, ...unwanted] };
};
