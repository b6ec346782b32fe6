/** Fills a crawl that comes from another store. */

import { COUNTERS, MANY, script } from './parts.ts';
import { KNOW, SEEN } from './seen.ts';

/**
 * KEYS meta, notes. ARGV tag, time, member; layout; number of shards; token of this move.
 * Answers: `whole` when a whole crawl is there; `begun` otherwise: it is marked as being moved by this token, and what
 * it said of itself before is gone.
 */
export const BEGIN_MOVE = script(
  ['meta', 'notes'],
  `
local moving = redis.call('HGET', meta, 'moving')
if not moving and redis.call('EXISTS', meta) == 1 then return 'whole' end
redis.call('DEL', meta, notes)
redis.call('HSET', meta, 'layout', ARGV[4], 'shards', ARGV[5], 'moving', ARGV[6])
return 'begun'
`,
);

/**
 * KEYS meta. ARGV tag, time, member; token. Answers: 1 when the crawl is whole now; 0 when another move has begun
 * meanwhile.
 */
export const END_MOVE = script(
  ['meta'],
  `
local moving = redis.call('HGET', meta, 'moving')
if moving and moving ~= ARGV[4] then return 0 end
redis.call('HDEL', meta, 'moving') -- gone already: the answer was lost
return 1
`,
);

/** KEYS moving. ARGV tag, time, member; token; 1 if that move fills this shard from now on, 0 if it does no longer. */
export const MOVE_SHARD = script(
  ['moving'],
  `
if ARGV[5] == '1' then
  redis.call('SET', moving, ARGV[4])
elseif redis.call('GET', moving) == ARGV[4] then
  redis.call('DEL', moving)
end
return ''
`,
);

/** What TAKE and TAKE_META answer. */
export const TAKEN_WELL = 'taken';
/** Another move has begun meanwhile: what the former still has on its way is not taken. */
export const OVERTAKEN = 'overtaken';

/**
 * KEYS meta, notes. ARGV tag, time, member; token; JSON: marks and notes, name and value in turn each. Answers: how it
 * went.
 */
export const TAKE_META = script(
  ['meta', 'notes'],
  `
${MANY}
if redis.call('HGET', meta, 'moving') ~= ARGV[4] then return { '${OVERTAKEN}' } end
local given = cjson.decode(ARGV[5])
many('HSET', meta, given.marks)
many('HSET', notes, given.notes)
return { '${TAKEN_WELL}' }
`,
);

/**
 * KEYS moving, count, due, parked, held, robots, sites
 * ARGV tag, time, member; token; JSON: \`sites\`, each: name, state (empty, p or h), pages, dueAt, delay, crawl delay,
 * response time, failures;
 *      \`lines\`, each: site, number of links, blocks; \`prints\`: fingerprints of URLs that are known from now on;
 * \`robots\`: origins and rules in turn;
 *      \`counts\`: what is added to counters
 *
 * Answers: how it went; or a site that has links here, but is not known, in second place. May not be repeated.
 */
export const TAKE = script(
  ['moving', 'count', 'due', 'parked', 'held', 'robots', 'sites'],
  `
${MANY}${COUNTERS}${SEEN}${KNOW}
if redis.call('GET', moving) ~= ARGV[4] then return { '${OVERTAKEN}' } end
local given, names, dueNow = cjson.decode(ARGV[5]), {}, {}
for i, t in ipairs(given.sites) do
  local state = t[2]
  redis.call('HSET', tag .. 'site:' .. t[1], 's', state, 'w', 0, 'p', t[3], 'd', num(t[4]), 'e', num(t[5]), 'c', num(t[6]), 'r', num(t[7]), 'f', t[8], 'o', 0)
  names[i] = t[1]
  if state == 'p' then
    redis.call('SADD', parked, t[1])
    add('sitesParked', 1)
  elseif state == 'h' then
    redis.call('SADD', held, t[1])
    add('sitesHeld', 1)
  end
end
many('RPUSH', sites, names)
add('sites', #names)
for _, line in ipairs(given.lines) do
  local site, n = line[1], line[2]
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 's', 'd')
  if not s[1] then return { 'unknown', site } end
  if redis.call('HINCRBY', key, 'w', n) == n and s[1] == '' then
    dueNow[#dueNow + 1] = s[2]
    dueNow[#dueNow + 1] = site
  end
  many('RPUSH', tag .. 'line:' .. site, line[3])
  add(s[1] == 'p' and 'parked' or s[1] == 'h' and 'held' or 'waiting', n)
end
many('ZADD', due, dueNow)
many('HSET', robots, given.robots)
for print in string.gmatch(given.prints, '%S+') do know(print) end
for name, n in pairs(given.counts) do add(name, n) end
writeCounters()
writeSizes()
return { '${TAKEN_WELL}' }
`,
);
