/** How many pages of a site are fetched before its other links are held. */

import type { Settings } from './settings.ts';

export interface SitePagesMax {
  /** Null for any number. */
  readonly all: number | null;
  /** The sites that differ, by name. */
  readonly sites?: Readonly<Record<string, number | null>>;
}

export const pagesMaxOf = ({ all, sites }: SitePagesMax, site: string): number | null =>
  sites !== undefined && Object.hasOwn(sites, site) ? sites[site]! : all;

/** The budgets that `--max-pages-per-site` and rules per site give. */
export const sitePagesMaxOf = ({
  maxPagesPerSite: all,
  sites: rules = [],
}: Pick<Settings, 'maxPagesPerSite' | 'sites'>): SitePagesMax => {
  const named = rules.flatMap(({ name, maxPages }) => (maxPages === undefined ? [] : [[name, maxPages] as const]));
  return named.length === 0 ? { all } : { all, sites: Object.fromEntries(named) };
};
