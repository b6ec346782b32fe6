-- Counters of the shard, changed once at the end of a step, with the moment at which something changed last.
local changed = {}
local function add(field, n) changed[field] = (changed[field] or 0) + n end
local function writeCounters()
  for field, n in pairs(changed) do
    if n ~= 0 then redis.call('HINCRBY', count, field, n) end
  end
  if changed.changes then redis.call('HSET', count, 'moment', num(now)) end
end
