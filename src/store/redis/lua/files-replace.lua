-- Puts references in the place of others that lie in a queue one after the other.
--
-- keys: files
-- args: number of the opening; site; the next link of its first reference if that is among those replaced (empty
--       otherwise); how many are replaced; these; then those that stand for them
-- answer: 1 when it is done; 0 when they do not lie so any more, and then nothing happened
-- uses: queue-files
local site, o, n = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
if not isOpenAs(ARGV[4]) then return 0 end
local key = queueOf(site)
local was = redis.call('LRANGE', key, 0, -1)
local at
for i, reference in ipairs(was) do
  if reference == ARGV[8] then
    at = i
    break
  end
end
-- the first one only by its name, since what is left of it is said elsewhere
if not at or (at == 1) ~= (o ~= nil) then return 0 end
if o and (tonumber(redis.call('HGET', tag .. 'site:' .. site, 'o')) or 0) ~= o then return 0 end
local new = {}
for i = 1, at - 1 do new[i] = was[i] end
for i = 1, n do
  local reference = was[at + i - 1]
  if reference ~= ARGV[7 + i] then return 0 end
  local file, _, from, to = readReference(reference)
  refer(file, (i == 1 and o and o > 0 and o or from) - to)
end
for i = 8 + n, #ARGV do
  local file, _, from, to = readReference(ARGV[i])
  refer(file, to - from)
  new[#new + 1] = ARGV[i]
end
for i = at + n, #was do new[#new + 1] = was[i] end
redis.call('DEL', key)
many('RPUSH', key, new)
if o then redis.call('HSET', tag .. 'site:' .. site, 'o', 0) end
writeQueues()
return 1
