/** What a crawl keeps for those who join it. */

import { script } from './parts.ts';

/** KEYS notes. ARGV tag, time, member; name. Answers: the note, or nil. */
export const NOTE = script(
  ['notes'],
  `
return redis.call('HGET', notes, ARGV[4])
`,
  'no-writes',
);

/** KEYS notes. ARGV tag, time, member. Answers: all of them, name and text in turn. */
export const NOTES = script(
  ['notes'],
  `
return redis.call('HGETALL', notes)
`,
  'no-writes',
);

/**
 * KEYS meta, notes. ARGV tag, time, member; layout and number of shards of a new crawl; name; text.
 * Answers: layout, shards and mark of a move (or nil) of the crawl that is there now; the note. Nothing is written to a
 * crawl of another layout, or to one that is on the move.
 */
export const KEEP_NOTE = script(
  ['meta', 'notes'],
  `
redis.call('HSETNX', meta, 'layout', ARGV[4])
redis.call('HSETNX', meta, 'shards', ARGV[5])
local is = redis.call('HMGET', meta, 'layout', 'shards', 'moving')
if is[1] ~= ARGV[4] or is[3] then return { is, '' } end
redis.call('HSETNX', notes, ARGV[6], ARGV[7])
return { is, redis.call('HGET', notes, ARGV[6]) }
`,
);
