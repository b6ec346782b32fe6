-- Puts a link whose visit has ended into another queue of its site. `to`: queue, 1 if to its head, dueAt, delay, crawl
-- delay, response time, failures, 1 if parked or 2 if held, 1 if that is news for a queue that is there already. A
-- queue that is made is no new site: it is on the list of sites, but not counted as one.
-- uses: counters queue
local COUNTER = { [PARKED] = 'parked', [HELD] = 'held' }
local function moveLink(to, element)
  local name, isParked, isHeld = to[1], to[8] == 1, to[8] == 2
  local key = tag .. 'site:' .. name
  local was = redis.call('HMGET', key, 's', 'w', 'd', 'o')
  local isNew = not was[1]
  local state, w, o = was[1] or IDLE, tonumber(was[2]) or 0, tonumber(was[4]) or 0
  local takesOver = isNew or to[9] == 1
  local after = state
  if state ~= LEASED then
    if takesOver then after = isParked and PARKED or isHeld and HELD or WAITING
    elseif state == IDLE then after = WAITING end
  end
  if to[2] == 1 then
    putFirst(name, o, { element })
    o = 0
  else
    redis.call('RPUSH', queueOf(name), element)
  end
  redis.call('HSET', key, 's', after, 'w', w + 1, 'o', o)
  if isNew then
    redis.call('HSET', key, 'p', 0)
    redis.call('RPUSH', tag .. 'sites', name)
  end
  if takesOver then
    redis.call('HSET', key, 'd', num(to[3]), 'e', num(to[4]), 'c', num(to[5]), 'r', num(to[6]), 'f', to[7])
  end
  local dueAt = after == WAITING and (takesOver and num(to[3]) or was[3])
  if dueAt then
    redis.call('ZADD', due, dueAt, name)
  elseif state == WAITING then
    redis.call('ZREM', due, name)
  end
  if (after == PARKED) ~= (state == PARKED) then
    redis.call(after == PARKED and 'SADD' or 'SREM', parked, name)
    add('sitesParked', after == PARKED and 1 or -1)
  end
  if (after == HELD) ~= (state == HELD) then redis.call(after == HELD and 'SADD' or 'SREM', held, name) end
  add(COUNTER[state] or 'waiting', -w)
  add(COUNTER[after] or 'waiting', w + 1)
  return w + 1, dueAt
end
