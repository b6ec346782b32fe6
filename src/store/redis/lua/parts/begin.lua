-- What every step begins with: the tag that all keys of its shard begin with, the time, the member that asks, and two
-- functions.
local tag, now, member = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if not now then
  local t = redis.call('TIME')
  now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000
end
local function queueOf(site) return tag .. 'queue:' .. site end
-- Lua would write 14 digits; 17 are read back as the same number
local function num(x) return string.format('%.17g', x) end
