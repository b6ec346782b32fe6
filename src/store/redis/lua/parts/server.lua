-- Did this shard go back in time? A replica that lags takes over, or a server starts again without its last moments:
-- then leases, clocks and settlements are forgotten, and the shard is shut until its members have put that right
-- (`ready`). The sign is another replication id, which changes with every start and every promotion of a server; or
-- fewer changes than the member that asks has seen here. It begins with the fourth argument: the epoch of the shard
-- that this member knows, and the changes.
--
-- Kept in `count`: `alive`, when it was touched last; `server`, the replication id; `epoch`, how often it went back and
-- was opened; `floor`, when it was opened last. In `back`: the `server` that went back, when that was noticed (`at`),
-- the `moment` that it went back to; `ready:<member>`, and for each epoch the moment that it went back to.
-- uses: replication
local present = replicationId()
local epoch, changesWere = countOf('epoch') or '0', tonumber(countOf('changes')) or 0
local knownEpoch, seenChanges = string.match(ARGV[4], '^(%d+) (%d+)$')
local back = tag .. 'back'
-- none yet: nothing has happened here
if not countOf('server') and changesWere == 0 and seenChanges == '0' then
  redis.call('HSET', count, 'server', present, 'alive', num(now))
  counts.server = present
end
local isShut = countOf('server') ~= present or changesWere < tonumber(seenChanges)
if isShut and redis.call('HGET', back, 'server') ~= present then
  for _, field in ipairs(redis.call('HKEYS', back)) do
    if string.sub(field, 1, 6) == 'ready:' then redis.call('HDEL', back, field) end
  end
  -- the earlier one counts, if it goes back again before it was opened
  local alive = math.max(tonumber(countOf('moment')) or 0, tonumber(countOf('alive')) or 0)
  local moment = math.min(alive, tonumber(redis.call('HGET', back, 'moment')) or math.huge)
  -- where it was before: if that server lives, the shard has only moved from one node of a cluster to another
  local was = countOf('server')
  local from = changesWere >= tonumber(seenChanges) and was ~= '-' and was or ''
  redis.call('HSET', back, 'server', present, 'at', num(now), 'moment', num(moment), 'from', from)
  redis.call('HSET', count, 'server', '-')
end
-- whether this member may work here, and what it is told: + for yes
local isOpen = not isShut and epoch == knownEpoch
local state = isOpen and '+' or '!'
