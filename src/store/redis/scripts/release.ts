/** Brings parked or held sites of one shard back, some at a time. */

import { COUNTERS, NEXT, script } from './parts.ts';

/** Sites looked at by one call, so that none holds up the others for long. */
const SITES_MAX = 500;

/**
 * KEYS count, due, lease, parked, held
 * ARGV tag, time, member; \`parked\` or \`held\`; held sites with fewer pages only (empty for all); where to go on (0
 * first)
 *
 * Answers: next moments; where to go on, 0 at the end.
 */
export const RELEASE = script(
  ['count', 'due', 'lease', 'parked', 'held'],
  `
${COUNTERS}${NEXT}
local fromParked, below = ARGV[4] == 'parked', tonumber(ARGV[5]) or math.huge
local from = fromParked and parked or held
local part = redis.call('SSCAN', from, ARGV[6], 'COUNT', ${SITES_MAX})
for _, site in ipairs(part[2]) do
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 's', 'w', 'p', 'd', 'e')
  local w, d = tonumber(s[2]), s[4]
  -- a scan may name a site twice
  if s[1] == (fromParked and 'p' or 'h') and (fromParked or tonumber(s[3]) < below) then
    redis.call('SREM', from, site)
    if fromParked then
      -- Not after a long back-off any more, but never before a full delay: its last call may just have left.
      d = num(math.max(now, math.min(tonumber(d), now + tonumber(s[5]))))
      redis.call('HSET', key, 's', '', 'f', 0, 'd', d)
    else
      redis.call('HSET', key, 's', '')
    end
    if w > 0 then redis.call('ZADD', due, d, site) end
    add('waiting', w)
    add(fromParked and 'parked' or 'held', -w)
    add(fromParked and 'sitesParked' or 'sitesHeld', -1)
    add('changes', 1)
  end
end
writeCounters()
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, part[1] }
`,
);
