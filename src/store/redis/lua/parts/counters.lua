-- Counters of the shard, written once at the end of a step, with the moment at which something changed last. Whatever
-- else is kept in `count` can be `put` there, too.
local changed, puts = {}, {}
local function add(field, n) changed[field] = (changed[field] or 0) + n end
local function put(field, value)
  puts[#puts + 1] = field
  puts[#puts + 1] = value
end
local function writeCounters()
  for field, n in pairs(changed) do
    if n ~= 0 then
      counts[field] = num((tonumber(countOf(field)) or 0) + n)
      put(field, counts[field])
    end
  end
  if changed.changes then put('moment', num(now)) end
  if #puts > 0 then redis.call('HSET', count, unpack(puts)) end
end
