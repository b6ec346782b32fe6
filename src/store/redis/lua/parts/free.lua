-- Frees a lease: its link waits again, first in its queue, and its site a full delay from `at`. With `claimsMax` tries
-- the link is given up instead, and put on the list of the member that must write its row, which has a number among
-- those of its kind. `writeGiven` at the end.
-- uses: lease queue counters batch
local given, mine = {}, nil
local function freeLease(site, l, how)
  redis.call('HDEL', leased, site)
  redis.call('ZREM', lease, site)
  add('leased', -1)
  local key = tag .. 'site:' .. site
  local s = redis.call('HMGET', key, 'w', 'e', 'o')
  local w, o = tonumber(s[1]), tonumber(s[3])
  local text, tries = countTry(l.text, how.counted and 0 or -1)
  if how.counted and tries >= how.claimsMax then
    add('settled:gave-up', 1)
    mine = mine or readBatch(member)
    mine.settled, mine.given = mine.settled + 1, mine.given + 1
    local written = site .. '\n' .. num(how.at) .. ' ' .. mine.given .. '\n' .. l.via .. '\n' .. text
    redis.call('RPUSH', gone, written)
    given[#given + 1] = written
  else
    putFirst(site, o, { elementOf(text, l.via) })
    w, o = w + 1, 0
    add('waiting', 1)
  end
  local dueAt = num(how.at + tonumber(s[2]))
  redis.call('HSET', key, 's', w > 0 and WAITING or IDLE, 'w', w, 'd', dueAt, 'o', o)
  if w > 0 then redis.call('ZADD', due, dueAt, site) end
end
local function writeGiven()
  if mine then writeBatch(member, mine) end
end
