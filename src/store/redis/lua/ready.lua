-- Says of a shard that went back in time that this member has put right what it can: from then on it waits for the
-- others. The last one opens the shard, when it has been shut for so long that every member that lives has been heard.
--
-- keys: count
-- args: epoch that this member knows, and changes it has seen (0 for any); the members that live, with spaces between
--       them (empty only to look); milliseconds that the shard is shut at least
-- counts: server epoch changes
-- answer: `open` or `shut`; its epoch; the server that it is on; the time; the first moment that it went back to since
--         the known epoch (empty for none); how often it changed
-- uses: server
local ends, since = 'shut', ''
if not isShut then
  ends = 'open'
else
  local was = redis.call('HMGET', back, 'at', 'moment')
  local isReady = ARGV[5] ~= '' and now - tonumber(was[1]) >= tonumber(ARGV[6])
  if ARGV[5] ~= '' then redis.call('HSET', back, 'ready:' .. member, present) end
  for name in string.gmatch(ARGV[5], '%S+') do
    isReady = isReady and redis.call('HGET', back, 'ready:' .. name) == present
  end
  if isReady then
    ends, epoch = 'open', num(tonumber(epoch) + 1)
    redis.call('HSET', count, 'server', present, 'epoch', epoch, 'floor', num(now))
    redis.call('HSET', back, 'epoch:' .. epoch, was[2])
    for _, field in ipairs(redis.call('HKEYS', back)) do
      if string.sub(field, 1, 6) ~= 'epoch:' then redis.call('HDEL', back, field) end
    end
  else
    since = was[2]
  end
end
for n = tonumber(knownEpoch) + 1, tonumber(epoch) do
  local moment = redis.call('HGET', back, 'epoch:' .. n)
  if moment and (since == '' or tonumber(moment) < tonumber(since)) then since = moment end
end
return { ends, epoch, present, num(now), since, changesWere }
