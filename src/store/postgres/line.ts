/** A waiting link as a block holds it: one line of text, its tries first. */

import type { Link } from '../../model/link.ts';
import { linkOf, marksOf, type Waiting } from '../link-text.ts';

/** About half a database page: most blocks are what one page gives one site, and few are cut. */
export const BLOCK_CHARS_MAX = 3_500;

/** `tries depth hops marks url`. The tries stand apart, because a claim and its end change them. */
export const writeLine = (link: Link, tries = 0): string =>
  `${tries} ${link.depth} ${link.hops} ${marksOf(link)} ${link.url}`;

/** With the tries, as a block has it. */
export const readWaiting = (text: string, via: string, site: string): Waiting => {
  const end = text.indexOf(' ');
  return { link: readLine(text.slice(end + 1), via, site), tries: Number(text.slice(0, end)) };
};

/** Without the tries, as the row of a leased site has it. */
export const readLine = (text: string, via: string, site: string): Link => {
  const [depth, hops, marks, url] = text.split(' ', 4) as [string, string, string, string];
  return linkOf({ depth, hops, marks, url }, via, site);
};

/**
 * Steps of a statement that put one link back at the head of its site's line. `from` has rows of (id, head, head_at,
 * tries, leased, leased_via) as they were before; the caller sets head = head - 1 and head_at = 0.
 */
export const putFirst = (s: string, from: string): string => `
  put_first AS (
    INSERT INTO ${s}.block (site, position, via, links) SELECT f.id, f.head - 1, f.leased_via, ARRAY[f.tries || ' ' || f.leased] FROM ${from} f
  ), kept_place AS (
    UPDATE ${s}.block b SET read_to = f.head_at FROM ${from} f WHERE f.head_at > 0 AND b.site = f.id AND b.position = f.head
  )`;
