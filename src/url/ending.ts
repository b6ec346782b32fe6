/** Does a path name a file that is plainly not text? */

import { BODY_KINDS, endingsOf } from '../model/body-types.ts';

/** Endings that never serve a page. */
const ENDINGS = new Set(Object.values(BODY_KINDS).flatMap(endingsOf));

/**
 * Programs that web servers run: with a query (`/shop.dll?item=7`, `/find.exe?q=a`) what comes is what the program
 * writes, mostly a page; without one, mostly the file. Every other ending says the same with a query as without:
 * `photo.jpg?w=200` is a smaller photo, `app.js?v=3` a newer script, `a.zip?mirror=2` the file from another place.
 */
const RUN_BY_SERVERS: ReadonlySet<string> = new Set(['dll', 'exe']);

/** No ending listed is longer. */
const ENDING_CHARS_MAX = Math.max(...Array.from(ENDINGS, (ending) => ending.length));

export const FILE_ENDINGS: ReadonlySet<string> = ENDINGS;

/**
 * Looks at the end of the path, not of the query: `/get?file=a.zip` may well answer with a page. Files of endings that
 * are wanted do not count.
 */
export const namesFile = (path: string, isWanted?: (ending: string) => boolean): boolean => {
  const { ending, at } = endingAt(path);
  if (!ENDINGS.has(ending)) return false;
  if (RUN_BY_SERVERS.has(ending) && path.includes('?')) return false;
  if (isPageAboutIt(path, path.lastIndexOf('/', at) + 1, at)) return false;
  return isWanted?.(ending) !== true;
};

/** The ending of a path, in lower case, and where its dot is; empty where it has none that could be listed. */
const endingAt = (path: string): { ending: string; at: number } => {
  const query = path.indexOf('?');
  const end = query < 0 ? path.length : query;
  const at = path.lastIndexOf('.', end - 1);
  if (at < 0 || end - at - 1 > ENDING_CHARS_MAX || end - at < 2) return { ending: '', at };
  return { ending: path.slice(at + 1, end).toLowerCase(), at }; // with a slash behind the dot it is in no list
};

/** The ending of a path or of a URL: `/a/B.PDF?x=1` has pdf. */
export const endingOf = (path: string): string => endingAt(path).ending;

/** Wikis have pages such as `/wiki/Node.js` and `/w/File:Cat.jpg`; directories have `/info/www.example.zip`. */
const isPageAboutIt = (path: string, segmentAt: number, dot: number): boolean => {
  if (path.startsWith('/wiki/') || path.startsWith('www.', segmentAt)) return true;
  const segment = path.slice(segmentAt, dot);
  return segment.includes(':') || segment.includes('%3A');
};
