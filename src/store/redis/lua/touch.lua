-- Notes that this shard is alive: so it is known how far it went back, if it does, though nothing else changes here.
--
-- keys: count
-- args: epoch and changes of the shard (parts/server.lua)
-- counts: server epoch changes
-- answer: + where this member may work, ! where the shard went back in time
-- uses: server
if isOpen then redis.call('HSET', count, 'alive', num(now)) end
return state
