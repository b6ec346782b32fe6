-- Leases due sites of one shard, one link each; frees leases that ran out first.
--
-- keys: count due lease leased held robots gone:<member>
-- args: epoch and changes of the shard (parts/server.lua): where this member may not work, nothing happens; visits at
--       the most (0 only looks); least delay of a site; pages of a site at the most (empty for any number);
--       milliseconds that a lease holds (empty for ever); holder; its run, and the number of the first lease; claims
--       after which a link is given up; sites with a number of their own and that number, in turn (nothing for none)
-- counts: server epoch floor changes waiting leased
-- answer: the next moments; visits, each: site, lease, when that runs out, link and where it was found as the queue has
--         them, dueAt, delay, crawl delay, response time and failures of the site before, rules of the origin (or
--         empty); links given up
-- uses: server many counters moments queue lease free
if not isOpen then return { moments(state), {}, {} } end
local wanted, leastDelay = tonumber(ARGV[5]), tonumber(ARGV[6])
local pagesMax, leaseMs = tonumber(ARGV[7]) or math.huge, tonumber(ARGV[8])
local holder, run, number, claimsMax = ARGV[9], ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12])
local pagesMaxOf = {}
for site, max in string.gmatch(ARGV[13] or '', '(%S+) (%S+)') do pagesMaxOf[site] = tonumber(max) end
-- leases freed, and sites looked at, by one step: the others wait for the next
local FREED_MAX, LOOKED_AT_MAX = 200, 1000
local done, floor = 0, tonumber(countOf('floor')) or 0

for _, site in ipairs(redis.call('ZRANGEBYSCORE', lease, '-inf', num(now), 'LIMIT', 0, FREED_MAX)) do
  local l = readLease(redis.call('HGET', leased, site))
  freeLease(site, l, { counted = true, at = l.ends, claimsMax = claimsMax })
  done = done + 1
end

local ends = leaseMs and num(now + leaseMs) or '-'
local score = leaseMs and ends or '+inf'
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
  local id = number + n - 1
  origins[n] = origin
  scores[2 * n - 1], scores[2 * n] = score, site
  leases[2 * n - 1], leases[2 * n] = site, writeLease(run .. '.' .. num(id), ends, holder, via, counted)
  visits[n] = { site, num(id), leaseMs and ends or '', counted, via, s.d, s.e, s.c, s.r, s.f }
end

-- What the shard forgot when it went back is not known: since then no site is visited before it has waited in full.
local function notBefore(s) return floor + math.max(tonumber(s.e), leastDelay) end

local looked = 0
while #visits < wanted and looked < LOOKED_AT_MAX do
  local room = math.min(wanted - #visits, LOOKED_AT_MAX - looked)
  local some = redis.call('ZRANGEBYSCORE', due, '-inf', num(now), 'LIMIT', 0, room)
  if #some == 0 then break end
  looked = looked + #some
  local taken, waits = {}, {}
  for _, site in ipairs(some) do
    local v = redis.call('HMGET', tag .. 'site:' .. site, 'w', 'p', 'd', 'e', 'c', 'r', 'f', 'o')
    local s = { w = v[1], p = v[2], d = v[3], e = v[4], c = v[5], r = v[6], f = v[7], o = v[8] }
    if tonumber(s.p) >= (pagesMaxOf[site] or pagesMax) then
      taken[#taken + 1] = site
      redis.call('HSET', tag .. 'site:' .. site, 's', HELD)
      redis.call('SADD', held, site)
      add('waiting', -tonumber(s.w))
      add('held', tonumber(s.w))
      add('sitesHeld', 1)
      done = done + 1
    elseif floor > 0 and tonumber(s.d) < notBefore(s) and now < notBefore(s) then
      local dueAt = num(notBefore(s))
      redis.call('HSET', tag .. 'site:' .. site, 'd', dueAt)
      waits[#waits + 1] = dueAt
      waits[#waits + 1] = site
      done = done + 1
    else
      taken[#taken + 1] = site
      leaseSite(site, s)
    end
  end
  many('ZREM', due, taken)
  many('ZADD', due, waits)
end
many('ZADD', lease, scores)
many('HSET', leased, leases)
for i, rules in ipairs(readMany(robots, origins)) do visits[i][11] = rules or '' end
add('waiting', -#visits)
add('leased', #visits)
if #visits + done > 0 then add('changes', 1) end
writeGiven()
writeCounters()
return { moments(state), visits, given }
