/** The set of known URLs of a shard, in many small sets. */

/**
 * Fingerprints lie in many small sets, because a set of at most 512 whole numbers (set-max-intset-entries) is a plain
 * sorted array of 8 bytes each. One set more is made whenever there are this many per set (linear hashing): a set that
 * is not split yet then has twice as many on average, 360 +- 19, and 512 is eight deviations away.
 */
export const PRINTS_PER_BUCKET = 180;

/** Which set a fingerprint is in; a script with the key `count`. */
export const SEEN = `
local sizes = redis.call('HMGET', count, 'buckets', 'seen')
local buckets, prints = tonumber(sizes[1]) or 1, tonumber(sizes[2]) or 0
local level = 1
while level * 2 <= buckets do level = level * 2 end

-- a fingerprint has more digits than a number can hold here; its last nine tell the sets apart, up to millions of them
local function part(print) return tonumber(string.sub(print, -9)) end
local function bucketOf(print)
  local p = part(print)
  local n = p % (level * 2)
  return tag .. 'seen:' .. (n < buckets and n or p % level)
end
`;

/** Adds fingerprints; a script with SEEN and MANY. */
export const KNOW = `
local function split()
  local from = tag .. 'seen:' .. (buckets - level)
  local stay, go = {}, {}
  for _, print in ipairs(redis.call('SMEMBERS', from)) do
    local to = part(print) % (level * 2) == buckets and go or stay
    to[#to + 1] = print
  end
  -- both anew, in order: appended to, and small again if the old one had grown over
  redis.call('DEL', from)
  many('SADD', from, stay)
  many('SADD', tag .. 'seen:' .. buckets, go)
  buckets = buckets + 1
  if buckets == level * 2 then level = buckets end
end
-- true when it was not there before
local function know(print)
  if redis.call('SADD', bucketOf(print), print) == 0 then return false end
  prints = prints + 1
  if prints > buckets * ${PRINTS_PER_BUCKET} then split() end
  return true
end
local function writeSizes() redis.call('HSET', count, 'buckets', buckets, 'seen', prints) end
`;
