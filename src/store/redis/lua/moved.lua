-- Opens a shard that was shut because its server is another one, if the former one lives: a slot of a cluster was moved
-- from one node to another, with all that was in it, and nothing was forgotten.
--
-- keys: count
-- args: epoch and changes of the shard (parts/server.lua); the servers that live and do not have this slot, with spaces
--       between them
-- answer: 1 when it is open
-- uses: server
if isOpen then return 1 end
local from = redis.call('HGET', back, 'from') or ''
if from == '' or epoch ~= knownEpoch or changesWere < tonumber(seenChanges) then return 0 end
for server in string.gmatch(ARGV[5], '%S+') do
  if server == from then
    redis.call('HSET', count, 'server', present)
    for _, field in ipairs(redis.call('HKEYS', back)) do
      if string.sub(field, 1, 6) ~= 'epoch:' then redis.call('HDEL', back, field) end
    end
    return 1
  end
end
return 0
