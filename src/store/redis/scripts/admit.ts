/** Takes in the links of one shard that were never seen. */

import { COUNTERS, LINE, MANY, NEXT, script } from './parts.ts';

/** A block is read whole for each link taken from it: one of 3,500 would cost a claim 3 us more. */
export const BLOCK_CHARS_MAX = 2_000;

/**
 * Fingerprints lie in many small sets, because a set of at most 512 whole numbers (set-max-intset-entries) is a plain
 * sorted array of 8 bytes each. One set more is made whenever there are this many per set (linear hashing): a set that
 * is not split yet then has twice as many on average, 360 +- 19, and 512 is eight deviations away.
 */
export const PRINTS_PER_BUCKET = 180;

/**
 * KEYS count, due, lease
 * ARGV tag, time, member; links that may wait per site (empty for any number); then for each run of links of one site
 *      that were found on one page, those of a site together: site, page, text: a line per link: fingerprint, 1 if it
 *      goes first, link as in a block
 *
 * Answers: next moments as all do; admitted, seen, forgotten; sites that are full.
 */
export const ADMIT = script(['count', 'due', 'lease'], `
${MANY}${COUNTERS}${LINE}${NEXT}
local most = tonumber(ARGV[4]) or math.huge
local admitted, known, forgotten, full = 0, 0, 0, {}

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

local function pack(blocks, via, line)
  local last = blocks[#blocks]
  if last and last.via == via and last.size + #line + 1 <= ${BLOCK_CHARS_MAX} then
    last[#last + 1] = line
    last.size = last.size + #line + 1
  else
    blocks[#blocks + 1] = { via = via, size = #line + 1, line }
  end
end
local function texts(blocks)
  for i, block in ipairs(blocks) do blocks[i] = block.via .. '\\n' .. table.concat(block, '\\n') .. '\\n' end
  return blocks
end

local site, s, dueNow = nil, nil, {}
local function open(name)
  local was = redis.call('HMGET', tag .. 'site:' .. name, 's', 'w', 'd', 'o')
  local w = tonumber(was[2]) or 0
  site, s = name, { state = was[1], before = w, w = w, d = was[3], o = tonumber(was[4]) or 0, head = {}, tail = {} }
end
local function close()
  if not site or s.w == s.before then return end
  if #s.head > 0 then
    putFirst(site, s.o, texts(s.head))
    s.o = 0
  end
  for _, block in ipairs(texts(s.tail)) do redis.call('RPUSH', tag .. 'line:' .. site, block) end
  local key = tag .. 'site:' .. site
  if not s.state then
    -- at once, but behind those that have waited longer; it has no delay yet: its first claim brings one
    s.state, s.d = '', num(now)
    redis.call('HSET', key, 's', '', 'w', s.w, 'p', 0, 'd', s.d, 'e', 0, 'c', 0, 'r', 0, 'f', 0, 'o', s.o)
    add('sites', 1)
  else
    redis.call('HSET', key, 'w', s.w, 'o', s.o)
  end
  if s.state == '' and s.before == 0 then
    dueNow[#dueNow + 1] = s.d
    dueNow[#dueNow + 1] = site
  end
  add(s.state == 'p' and 'parked' or s.state == 'h' and 'held' or 'waiting', s.w - s.before)
end

for i = 5, #ARGV, 3 do
  local name, via = ARGV[i], ARGV[i + 1]
  if name ~= site then
    close()
    open(name)
  end
  for print, first, line in string.gmatch(ARGV[i + 2], '(%S+) (%d) ([^\\n]+)\\n') do
    if first == '0' and s.w >= most then
      if redis.call('SISMEMBER', bucketOf(print), print) == 1 then
        known = known + 1
      else
        forgotten = forgotten + 1
        if full[#full] ~= site then full[#full + 1] = site end
      end
    elseif redis.call('SADD', bucketOf(print), print) == 1 then
      admitted, prints, s.w = admitted + 1, prints + 1, s.w + 1
      pack(first == '1' and s.head or s.tail, via, line)
      if prints > buckets * ${PRINTS_PER_BUCKET} then split() end
    else
      known = known + 1
    end
  end
end
close()
many('ZADD', due, dueNow)
add('forgotten', forgotten)
if admitted + forgotten > 0 then add('changes', 1) end
writeCounters()
if admitted > 0 then redis.call('HSET', count, 'buckets', buckets, 'seen', prints) end
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, admitted, known, forgotten, full }
`);
