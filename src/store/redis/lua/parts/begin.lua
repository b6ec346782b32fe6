-- What every step begins with: the tag that all keys of its shard begin with, the time, the member that asks, and some
-- functions.
local tag, now, member = ARGV[1], tonumber(ARGV[2]), ARGV[3]
-- Two keys that never are: while the slot of the shard is on the move from one node to another, this fails on both,
-- before anything is read or written, and who asked waits. Otherwise a key that has moved already would be missing
-- here, and the step would break off half-way, or take it for one that never was.
redis.call('EXISTS', tag .. 'none', tag .. 'none2')
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
-- fields of `count` that were read, those of the line `counts` of a step at once; false for one that is not there
local counts = {}
local function countOf(field)
  if counts[field] == nil then counts[field] = redis.call('HGET', tag .. 'count', field) end
  return counts[field]
end
local function queueOf(site) return tag .. 'queue:' .. site end
-- Lua would write 14 digits; 17 are read back as the same number
local function num(x) return string.format('%.17g', x) end
