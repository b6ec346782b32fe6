-- Adds fingerprints to the known URLs; `putSizes` before the counters are written.
-- uses: many seen counters
local PRINTS_PER_BUCKET = 180
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
  if prints > buckets * PRINTS_PER_BUCKET then split() end
  return true
end
local function putSizes()
  put('buckets', num(buckets))
  put('seen', num(prints))
end
