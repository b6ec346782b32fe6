-- Puts new links into queues, site by site: `open` a site, give it elements and count them, `close` it; `writeSites` at
-- the end.
-- uses: many counters
local site, s, dueNow, found = nil, nil, {}, {}
local function open(name)
  local was = redis.call('HMGET', tag .. 'site:' .. name, 's', 'w', 'd', 'o')
  local w = tonumber(was[2]) or 0
  site, s = name, { state = was[1], before = w, w = w, d = was[3], o = tonumber(was[4]) or 0, head = {}, tail = {} }
end
local function close()
  if not site or s.w == s.before then return end
  if #s.head > 0 then
    putFirst(site, s.o, elementsOf(s.head))
    s.o = 0
  end
  many('RPUSH', queueOf(site), elementsOf(s.tail))
  local key, isNew = tag .. 'site:' .. site, not s.state
  if isNew or s.state == IDLE then
    -- a new one at once, but after those that have waited longer
    s.state, s.d = WAITING, isNew and num(now) or s.d
    dueNow[#dueNow + 1] = s.d
    dueNow[#dueNow + 1] = site
  end
  if isNew then
    -- it has no delay yet: its first claim brings one
    redis.call('HSET', key, 's', WAITING, 'w', s.w, 'p', 0, 'd', s.d, 'e', 0, 'c', 0, 'r', 0, 'f', 0, 'o', s.o)
    found[#found + 1] = site
  else
    redis.call('HSET', key, 's', s.state, 'w', s.w, 'o', s.o)
  end
  add(s.state == PARKED and 'parked' or s.state == HELD and 'held' or 'waiting', s.w - s.before)
end
local function writeSites()
  many('ZADD', due, dueNow)
  many('RPUSH', tag .. 'sites', found)
  add('sites', #found)
end
