/** Where in the line of its site is a link? */

import type { OpenLink } from '../../frontier/store.ts';
import { textOf } from './book.ts';
import { readWaiting } from './line.ts';
import type { Rows } from './read-sites.ts';
import { keyOf } from './schema.ts';

/** About 10 M links and some seconds. A line can be longer only without --max-waiting-per-site. */
const BLOCKS_MAX = 200_000;

/**
 * The blocks of a line from its head, each with the links that still wait: those before were taken, and one of them may
 * be in line again further behind.
 */
const restOf = (s: string): string => `
  SELECT b.position, b.via, b.links[CASE WHEN b.position = k.head THEN k.head_at ELSE b.read_to END + 1:] AS links
  FROM ${s}.site k JOIN ${s}.block b ON b.site = k.id AND b.position BETWEEN k.head AND k.head + ${BLOCKS_MAX - 1} WHERE k.id = $1`;

export const findInLine = async (
  rows: Rows,
  s: string,
  { url, site }: { readonly url: string; readonly site: string },
): Promise<{ found: OpenLink | null; lookedAt: number }> => {
  const [row] = await rows<{ via: string; line: string; ahead: number }>(
    `
    SELECT r.via, u.line, r.ends - cardinality(r.links) + u.nth - 1 AS ahead
    FROM (SELECT r.*, sum(cardinality(r.links)) OVER (ORDER BY r.position ROWS UNBOUNDED PRECEDING) AS ends FROM (${restOf(s)}) r) r
    CROSS JOIN LATERAL unnest(r.links) WITH ORDINALITY AS u(line, nth)
    WHERE split_part(u.line, ' ', 5) = $2 LIMIT 1`,
    [keyOf(site), textOf(url)],
  );
  if (row) return { found: { ...readWaiting(row.line, row.via, site), ahead: row.ahead }, lookedAt: row.ahead + 1 };
  const [all] = await rows<{ n: number }>(
    `SELECT coalesce(sum(cardinality(r.links)), 0)::bigint AS n FROM (${restOf(s)}) r`,
    [keyOf(site)],
  );
  return { found: null, lookedAt: all!.n };
};
