-- Queues whose links lie in files: lists of references. A reference is `file offset from to`, links from..to-1 of the
-- block at that offset; then how often they were claimed, if any was: `3` for all, or `;7=1;12=2` by their number in
-- the block. `o` of a site is the next link of its first reference; 0 when none of it is taken.
-- A link that is taken is named by `file offset number tries`, and where it was found is in the file.
-- uses: many
local function readReference(text)
  local file, offset, from, to, tries = string.match(text, '^(%S+) (%S+) (%d+) (%d+) ?(.*)$')
  return file, offset, tonumber(from), tonumber(to), tries
end
local function triesOf(tries, at)
  if string.sub(tries, 1, 1) == ';' then return tonumber(string.match(tries, ';' .. at .. '=(%d+)')) or 0 end
  return tonumber(tries) or 0
end
local function countTry(text, more)
  local place, tries = string.match(text, '^(.*) (%d+)$')
  tries = tonumber(tries) + more
  return place .. ' ' .. tries, tries, ''
end

local function first(site, o)
  local file, offset, from, to, tries = readReference(redis.call('LINDEX', queueOf(site), 0) or '')
  if not file then return '', '', 0 end
  local at = o > 0 and o or from
  return file .. ' ' .. offset .. ' ' .. at .. ' ' .. triesOf(tries, at), '', at + 1 < to and at + 1 or 0
end

local function elementOf(text)
  local place, at, tries = string.match(text, '^(%S+ %S+) (%d+) (%d+)$')
  return place .. ' ' .. at .. ' ' .. (at + 1) .. (tries ~= '0' and ' ' .. tries or '')
end
local function elementsOf(references) return references end
local function putFirst(site, o, references)
  local key = queueOf(site)
  if o > 0 then
    local file, offset, _, to, tries = readReference(redis.call('LINDEX', key, 0))
    redis.call('LSET', key, 0, file .. ' ' .. offset .. ' ' .. o .. ' ' .. to .. (tries ~= '' and ' ' .. tries or ''))
  end
  for i = #references, 1, -1 do redis.call('LPUSH', key, references[i]) end
end

-- how many links of each file are referred to, from queues, leases and links given up: a file without is deleted
local files, referred = tag .. 'files', {}
local function refer(file, links) referred[file] = (referred[file] or 0) + links end
local function letGo(text) refer(string.match(text, '^%S+'), -1) end
local function writeQueues()
  for file, links in pairs(referred) do
    if links ~= 0 and redis.call('HINCRBY', files, file, links) == 0 then redis.call('HDEL', files, file) end
  end
end
-- false for an opening before the last; a server that was set back to a state before this one learns of it again
local function isOpenAs(opening)
  local last = redis.call('HGET', files, 'opening')
  if last == opening then return true end
  if last and tonumber(last) > tonumber(opening) then return false end
  redis.call('HSET', files, 'opening', opening)
  return true
end
