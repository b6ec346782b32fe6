/** What a check or a move of the whole crawl reads of one shard, some at a time. */

import { script } from './parts.ts';

/**
 * KEYS count, due, lease, leased, parked, held, sites, batch. ARGV tag, time, member.
 * Answers: how many sites, due ones, leases (by their end; by site), parked and held ones there are; all counters; for
 * each member the last batch that it settled here.
 */
export const SHARD = script(
  ['count', 'due', 'lease', 'leased', 'parked', 'held', 'sites', 'batch'],
  `
return {
  { redis.call('LLEN', sites), redis.call('ZCARD', due), redis.call('ZCARD', lease), redis.call('HLEN', leased), redis.call('SCARD', parked), redis.call('SCARD', held) },
  redis.call('HGETALL', count), redis.call('HGETALL', batch),
}
`,
  'no-writes',
);

/**
 * KEYS due, lease, leased, parked, held, sites. ARGV tag, time, member; where to begin in the list of sites; how many.
 * Answers: for each site its name, state, waiting, pages, dueAt, delay, crawl delay, response time, failures, where its
 * line begins; its lease as it is written; its place among the due ones, and among the leases (empty for none); 1 if it
 * is among the parked, the held, the sites that its lease's member has; how many blocks its line has.
 */
export const SITE_ROWS = script(
  ['due', 'lease', 'leased', 'parked', 'held', 'sites'],
  `
local from, rows = tonumber(ARGV[4]), {}
for i, site in ipairs(redis.call('LRANGE', sites, from, from + tonumber(ARGV[5]) - 1)) do
  local row = { site }
  for k, value in ipairs(redis.call('HMGET', tag .. 'site:' .. site, 's', 'w', 'p', 'd', 'e', 'c', 'r', 'f', 'o')) do row[k + 1] = value or '?' end
  local text = redis.call('HGET', leased, site) or ''
  local holder = string.match(text, '\\n([^/\\n]*)[^\\n]*$')
  row[11] = text
  row[12] = redis.call('ZSCORE', due, site) or ''
  row[13] = redis.call('ZSCORE', lease, site) or ''
  row[14] = tostring(redis.call('SISMEMBER', parked, site))
  row[15] = tostring(redis.call('SISMEMBER', held, site))
  row[16] = holder and tostring(redis.call('SISMEMBER', tag .. 'mine:' .. holder, site)) or '0'
  row[17] = tostring(redis.call('LLEN', tag .. 'line:' .. site))
  rows[i] = row
end
return rows
`,
  'no-writes',
);

/**
 * KEYS count. ARGV tag, time, member; blocks at the most; then for each site: its name, the block of its line to begin
 * with. Answers: the blocks of each, until there are as many as wanted.
 */
export const BLOCKS = script(
  ['count'],
  `
local left, lines = tonumber(ARGV[4]), {}
for i = 5, #ARGV, 2 do
  if left <= 0 then break end
  local from = tonumber(ARGV[i + 1])
  local blocks = redis.call('LRANGE', tag .. 'line:' .. ARGV[i], from, from + left - 1)
  left = left - #blocks
  lines[#lines + 1] = blocks
end
return lines
`,
  'no-writes',
);

/**
 * KEYS count. ARGV tag, time, member; the set to begin with, and the one to end before. Answers: the fingerprints of
 * each.
 */
export const PRINTS = script(
  ['count'],
  `
local sets = {}
for n = tonumber(ARGV[4]), tonumber(ARGV[5]) - 1 do sets[#sets + 1] = redis.call('SMEMBERS', tag .. 'seen:' .. n) end
return sets
`,
  'no-writes',
);

/**
 * KEYS robots. ARGV tag, time, member; where to go on (0 first); about how many. Answers: where to go on (0 at the
 * end); origins and rules in turn.
 */
export const RULES_FROM = script(
  ['robots'],
  `
return redis.call('HSCAN', robots, ARGV[4], 'COUNT', ARGV[5])
`,
  'no-writes',
);

/**
 * KEYS count. ARGV tag, time, member; a member. Answers: links given up whose rows it has not written; how many sites
 * it leases.
 */
export const OF_MEMBER = script(
  ['count'],
  `
return { redis.call('LRANGE', tag .. 'gone:' .. ARGV[4], 0, -1), redis.call('SCARD', tag .. 'mine:' .. ARGV[4]) }
`,
  'no-writes',
);
