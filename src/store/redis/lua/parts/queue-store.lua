-- Queues whose links lie in Redis: lists of blocks, each the page that its links were found on, then a line per link.
-- `o` of a site is where in its first block the next link begins; 0 when none of that block is taken.
-- uses: waiting many
-- a block is read whole for each link taken from it: one of 3,500 would cost a claim 3 us more
local BLOCK_CHARS_MAX = 2000

-- the first link: its text, where it was found, and `o` once it is taken; empty when there is none, or it is damaged
local function first(site, o)
  local block = redis.call('LINDEX', queueOf(site), 0) or ''
  local viaEnds = string.find(block, '\n', 1, true)
  local from = o > 0 and o or (viaEnds or 0) + 1
  local to = string.find(block, '\n', from, true)
  if not viaEnds or not to then return '', '', 0 end
  return string.sub(block, from, to - 1), string.sub(block, 1, viaEnds - 1), to < #block and to + 1 or 0
end

-- a link as an element of a queue
local function elementOf(text, via) return via .. '\n' .. text .. '\n' end
-- puts a link to a list of blocks that are not written yet
local function pack(blocks, via, text)
  local last = blocks[#blocks]
  if last and last.via == via and last.size + #text + 1 <= BLOCK_CHARS_MAX then
    last[#last + 1] = text
    last.size = last.size + #text + 1
  else
    blocks[#blocks + 1] = { via = via, size = #text + 1, text }
  end
end
local function elementsOf(blocks)
  for i, block in ipairs(blocks) do blocks[i] = elementOf(table.concat(block, '\n'), block.via) end
  return blocks
end
-- the first block forgets what is taken of it: `o` will speak of another
local function putFirst(site, o, elements)
  local key = queueOf(site)
  if o > 0 then
    local block = redis.call('LINDEX', key, 0)
    redis.call('LSET', key, 0, string.sub(block, 1, string.find(block, '\n', 1, true)) .. string.sub(block, o))
  end
  for i = #elements, 1, -1 do redis.call('LPUSH', key, elements[i]) end
end

-- nothing is kept beside a queue
local function letGo() end
local function writeQueues() end
