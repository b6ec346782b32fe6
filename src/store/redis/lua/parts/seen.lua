-- Which of the small sets of known URLs a fingerprint is in.
--
-- A set of at most 512 whole numbers (set-max-intset-entries) is a plain sorted array of 8 bytes each. One set more is
-- made whenever there are 180 per set (linear hashing): a set that is not split yet then has twice as many on average,
-- 360 +- 19, and 512 is eight deviations away.
local buckets, prints = tonumber(countOf('buckets')) or 1, tonumber(countOf('seen')) or 0
local level = 1
while level * 2 <= buckets do level = level * 2 end

-- a fingerprint has more digits than a number can hold here; its last nine tell the sets apart, up to millions of them
local function part(print) return tonumber(string.sub(print, -9)) end
local function bucketOf(print)
  local p = part(print)
  local n = p % (level * 2)
  return tag .. 'seen:' .. (n < buckets and n or p % level)
end
local function isKnown(print) return redis.call('SISMEMBER', bucketOf(print), print) == 1 end
