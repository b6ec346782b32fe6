-- Brings parked or held sites of one shard back, some at a time.
--
-- keys: count due lease parked held
-- args: `parked`, `held` or `refused`; held sites with fewer pages only (empty for all), or the scope whose queues
--       stay; where to go on (0 first); sites with a number of their own and that number, in turn (nothing for none)
-- answer: the next moments; where to go on, 0 at the end
-- uses: counters moments
local fromParked, refused, below = ARGV[4] == 'parked', ARGV[4] == 'refused', tonumber(ARGV[5]) or math.huge
local belowOf = {}
for site, max in string.gmatch(ARGV[7] or '', '(%S+) (%S+)') do belowOf[site] = tonumber(max) end
local from = fromParked and parked or held
-- Queues of links that are not wanted are held as sites are, and have an order of their own.
local function isMeant(site, pages)
  if fromParked then return true end
  local isAside = string.find(site, ' ', 1, true) ~= nil
  if refused then return isAside and string.sub(site, -#ARGV[5] - 2) ~= ' !' .. ARGV[5] end
  return not isAside and pages < (belowOf[site] or below)
end
-- sites looked at by one step, so that none holds up the others for long
local SITES_MAX = 500
local part = redis.call('SSCAN', from, ARGV[6], 'COUNT', SITES_MAX)
for _, site in ipairs(part[2]) do
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 's', 'w', 'p', 'd', 'e', 'f')
  local w, d, f = tonumber(s[2]), s[4], s[6]
  -- a scan may name a site twice
  if s[1] == (fromParked and PARKED or HELD) and isMeant(site, tonumber(s[3])) then
    redis.call('SREM', from, site)
    if fromParked then
      -- Not after a long back-off any more, but never before a full delay: its last request may just have left.
      d, f = num(math.max(now, math.min(tonumber(d), now + tonumber(s[5])))), 0
    end
    redis.call('HSET', key, 's', w > 0 and WAITING or IDLE, 'd', d, 'f', f)
    if w > 0 then redis.call('ZADD', due, d, site) end
    add('waiting', w)
    add(fromParked and 'parked' or 'held', -w)
    if fromParked then add('sitesParked', -1) elseif not refused then add('sitesHeld', -1) end
    add('changes', 1)
  end
end
writeCounters()
return { moments(), part[1] }
