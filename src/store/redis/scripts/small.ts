/** The steps that need no page of their own: counting, marks, time, and the lock around the last pages. */

import { script } from './parts.ts';

/**
 * KEYS count, due. ARGV tag, time, member.
 * Answers: time; all counters, name and value in turn; sites that are due; the next site, when it is due, its failures.
 */
export const CENSUS = script(
  ['count', 'due'],
  `
local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
local failures = first[1] and redis.call('HGET', tag .. 'site:' .. first[1], 'f') or '0'
return { num(now), redis.call('HGETALL', count), redis.call('ZCOUNT', due, '-inf', num(now)), first[1] or '', first[2] or '', failures }
`,
  'no-writes',
);

/** KEYS count. ARGV tag, time, member. Answers: pages and leases of the shard together. */
export const TAKEN = script(
  ['count'],
  `
local n = redis.call('HMGET', count, 'pages', 'leased')
return (tonumber(n[1]) or 0) + (tonumber(n[2]) or 0)
`,
  'no-writes',
);

/**
 * KEYS meta. ARGV tag, time, member; layout; number of shards. Answers: those of the crawl, which are these if it is
 * new; the mark of a move, or nil.
 */
export const BEGIN_CRAWL = script(
  ['meta'],
  `
redis.call('HSETNX', meta, 'layout', ARGV[4])
redis.call('HSETNX', meta, 'shards', ARGV[5])
return redis.call('HMGET', meta, 'layout', 'shards', 'moving')
`,
);

/** KEYS meta. ARGV tag, time, member; name; value. */
export const MARK = script(
  ['meta'],
  `
redis.call('HSET', meta, 'mark:' .. ARGV[4], ARGV[5])
redis.call('HINCRBY', meta, 'changes', 1)
return ''
`,
);

/** KEYS meta. ARGV tag, time, member. Answers: time; everything of the whole crawl, name and value in turn. */
export const META = script(
  ['meta'],
  `
return { num(now), redis.call('HGETALL', meta) }
`,
  'no-writes',
);

/** KEYS gone. ARGV tag, time, member; a link given up whose row is written. */
export const WRITTEN = script(
  ['gone'],
  `
return redis.call('LREM', gone, 1, ARGV[4])
`,
);

/**
 * KEYS room. ARGV tag, time, member; token; milliseconds after which the lock opens by itself. Answers: 1 if it is
 * ours.
 */
export const LOCK = script(
  ['room'],
  `
if redis.call('SET', room, ARGV[4], 'NX', 'PX', ARGV[5]) then return 1 end
return redis.call('GET', room) == ARGV[4] and 1 or 0 -- ours already: the answer was lost
`,
);

/** KEYS room. ARGV tag, time, member; token. Opens the lock if it is still ours. */
export const UNLOCK = script(
  ['room'],
  `
if redis.call('GET', room) == ARGV[4] then redis.call('DEL', room) end
return ''
`,
);
