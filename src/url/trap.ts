/** Does a path repeat itself, or go on without end? */

/**
 * Real paths are short: a documentation tree has about 12 levels. A relative link that is written
 * wrong adds a level with every page, and is stopped here when it repeats nothing.
 */
export const SEGMENTS_MAX = 20;
/** `/2024/01/01/01` has three equal segments for good reasons; a fourth is a loop. */
export const REPEATS_MAX = 3;
/** Longer cycles cannot repeat more than REPEATS_MAX times within SEGMENTS_MAX. */
const CYCLE_SEGMENTS_MAX = Math.floor(SEGMENTS_MAX / (REPEATS_MAX + 1));

/**
 * True when the path (without its query) has more than SEGMENTS_MAX segments, or one segment or a
 * cycle of up to five stands in it more than REPEATS_MAX times in a row.
 */
export const isTrap = (path: string): boolean => {
  const query = path.indexOf('?');
  const end = query < 0 ? path.length : query;
  let segments = 0;
  for (let at = path.indexOf('/'); at >= 0 && at < end; at = path.indexOf('/', at + 1)) segments += 1;
  if (path.charCodeAt(end - 1) === 0x2f) segments -= 1; // a trailing slash opens no segment
  if (segments > SEGMENTS_MAX) return true;
  return segments > REPEATS_MAX && repeatsItself(path.slice(1, end).split('/').slice(0, segments));
};

const repeatsItself = (segments: readonly string[]): boolean => {
  for (let cycle = 1; cycle <= CYCLE_SEGMENTS_MAX; cycle += 1) {
    let equal = 0;
    for (let at = cycle; at < segments.length; at += 1) {
      equal = segments[at] === segments[at - cycle] ? equal + 1 : 0;
      if (equal === cycle * REPEATS_MAX) return true;
    }
  }
  return false;
};
