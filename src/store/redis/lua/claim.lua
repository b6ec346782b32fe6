-- Leases due sites of one shard, one link each; frees leases that ran out first.
--
-- keys: count due lease leased held robots gone:<member>
-- args: visits at the most (0 only looks); least delay of a site; pages of a site at the most (empty for any number);
--       milliseconds that a lease holds (empty for ever); holder; number of shards; this shard; claims after which a
--       link is given up; sites with a number of their own and that number, in turn (nothing for none)
-- answer: the next moments; visits, each: site, lease, when that runs out, link and where it was found as the queue has
--         them, dueAt, delay, crawl delay, response time and failures of the site before, rules of the origin (or
--         empty); links given up
-- uses: many counters moments queue lease free
local wanted, leastDelay = tonumber(ARGV[4]), tonumber(ARGV[5])
local pagesMax, leaseMs = tonumber(ARGV[6]) or math.huge, tonumber(ARGV[7])
local holder, shards, shard, claimsMax = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local pagesMaxOf = {}
for site, max in string.gmatch(ARGV[12] or '', '(%S+) (%S+)') do pagesMaxOf[site] = tonumber(max) end
-- leases freed, and sites looked at, by one step: the others wait for the next
local FREED_MAX, LOOKED_AT_MAX = 200, 1000
local done = 0

for _, site in ipairs(redis.call('ZRANGEBYSCORE', lease, '-inf', num(now), 'LIMIT', 0, FREED_MAX)) do
  local l = readLease(redis.call('HGET', leased, site))
  freeLease(site, l, { counted = true, at = l.ends, claimsMax = claimsMax })
  done = done + 1
end

local ends = leaseMs and num(now + leaseMs) or '-'
local score = leaseMs and ends or '+inf'
local last = tonumber(redis.call('HGET', count, 'lease')) or 0
local visits, origins, scores, leases = {}, {}, {}, {}

local function leaseSite(site, s)
  local text, via, o = first(site, tonumber(s.o))
  if o == 0 then redis.call('LPOP', queueOf(site)) end
  local delay = math.max(tonumber(s.e), leastDelay)
  local counted, _, origin = countTry(text, 1)
  -- The clock moves before the request leaves: whatever happens to this visit, the site is not early.
  redis.call('HSET', tag .. 'site:' .. site,
    's', LEASED, 'w', tonumber(s.w) - 1, 'd', num(now + delay), 'e', num(delay), 'o', o)
  local n = #visits + 1
  local id = num((last + n) * shards + shard)
  origins[n] = origin
  scores[2 * n - 1], scores[2 * n] = score, site
  leases[2 * n - 1], leases[2 * n] = site, writeLease(id, ends, holder, via, counted)
  visits[n] = { site, id, leaseMs and ends or '', counted, via, s.d, s.e, s.c, s.r, s.f }
end

local looked = 0
while #visits < wanted and looked < LOOKED_AT_MAX do
  local room = math.min(wanted - #visits, LOOKED_AT_MAX - looked)
  local some = redis.call('ZRANGEBYSCORE', due, '-inf', num(now), 'LIMIT', 0, room)
  if #some == 0 then break end
  looked = looked + #some
  for _, site in ipairs(some) do
    local v = redis.call('HMGET', tag .. 'site:' .. site, 'w', 'p', 'd', 'e', 'c', 'r', 'f', 'o')
    local s = { w = v[1], p = v[2], d = v[3], e = v[4], c = v[5], r = v[6], f = v[7], o = v[8] }
    if tonumber(s.p) >= (pagesMaxOf[site] or pagesMax) then
      redis.call('HSET', tag .. 'site:' .. site, 's', HELD)
      redis.call('SADD', held, site)
      add('waiting', -tonumber(s.w))
      add('held', tonumber(s.w))
      add('sitesHeld', 1)
      done = done + 1
    else
      leaseSite(site, s)
    end
  end
  many('ZREM', due, some)
end
many('ZADD', lease, scores)
many('HSET', leased, leases)
for i, rules in ipairs(readMany(robots, origins)) do visits[i][11] = rules or '' end
add('lease', #visits)
add('waiting', -#visits)
add('leased', #visits)
if #visits + done > 0 then add('changes', 1) end
writeCounters()
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, visits, given }
