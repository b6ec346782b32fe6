-- Brings parked or held sites of one shard back, some at a time.
--
-- keys: count due lease parked held
-- args: `parked` or `held`; held sites with fewer pages only (empty for all); where to go on (0 first); sites with a
--       number of their own and that number, in turn (nothing for none)
-- answer: the next moments; where to go on, 0 at the end
-- uses: counters moments
local fromParked, below = ARGV[4] == 'parked', tonumber(ARGV[5]) or math.huge
local belowOf = {}
for site, max in string.gmatch(ARGV[7] or '', '(%S+) (%S+)') do belowOf[site] = tonumber(max) end
local from = fromParked and parked or held
-- sites looked at by one step, so that none holds up the others for long
local SITES_MAX = 500
local part = redis.call('SSCAN', from, ARGV[6], 'COUNT', SITES_MAX)
for _, site in ipairs(part[2]) do
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 's', 'w', 'p', 'd', 'e', 'f')
  local w, d, f = tonumber(s[2]), s[4], s[6]
  -- a scan may name a site twice
  if s[1] == (fromParked and PARKED or HELD) and (fromParked or tonumber(s[3]) < (belowOf[site] or below)) then
    redis.call('SREM', from, site)
    if fromParked then
      -- Not after a long back-off any more, but never before a full delay: its last request may just have left.
      d, f = num(math.max(now, math.min(tonumber(d), now + tonumber(s[5])))), 0
    end
    redis.call('HSET', key, 's', w > 0 and WAITING or IDLE, 'd', d, 'f', f)
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
