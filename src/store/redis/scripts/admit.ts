/** Takes in the links of one shard that were never seen. */

import { COUNTERS, LINE, MANY, NEXT, script } from './parts.ts';
import { KNOW, SEEN } from './seen.ts';

/** A block is read whole for each link taken from it: one of 3,500 would cost a claim 3 us more. */
export const BLOCK_CHARS_MAX = 2_000;

export { PRINTS_PER_BUCKET } from './seen.ts';

/**
 * Puts what is new into lines: `s.head` and `s.tail` of the site that is open, as blocks that `texts` writes; `s.w` has
 * counted them.
 */
export const GROW = `
local site, s, dueNow, found = nil, nil, {}, {}
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
    found[#found + 1] = site
  else
    redis.call('HSET', key, 'w', s.w, 'o', s.o)
  end
  if s.state == '' and s.before == 0 then
    dueNow[#dueNow + 1] = s.d
    dueNow[#dueNow + 1] = site
  end
  add(s.state == 'p' and 'parked' or s.state == 'h' and 'held' or 'waiting', s.w - s.before)
end
local function writeFound()
  many('ZADD', due, dueNow)
  many('RPUSH', tag .. 'sites', found)
  add('sites', #found)
end
`;

/**
 * KEYS count, due, lease
 * ARGV tag, time, member; links that may wait per site (empty for any number); then for each run of links of one site
 *      that were found on one page, those of a site together: site, page, text: a line per link: fingerprint, 1 if it
 *      goes first, link as in a block
 *
 * Answers: next moments as all do; admitted, seen, forgotten; sites that are full.
 */
export const ADMIT = script(
  ['count', 'due', 'lease'],
  `
${MANY}${COUNTERS}${LINE}${NEXT}${SEEN}${KNOW}
local most = tonumber(ARGV[4]) or math.huge
local admitted, known, forgotten, full = 0, 0, 0, {}

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

${GROW}
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
    elseif know(print) then
      admitted, s.w = admitted + 1, s.w + 1
      pack(first == '1' and s.head or s.tail, via, line)
    else
      known = known + 1
    end
  end
end
close()
writeFound()
add('forgotten', forgotten)
if admitted + forgotten > 0 then add('changes', 1) end
writeCounters()
if admitted > 0 then writeSizes() end
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, admitted, known, forgotten, full }
`,
);
