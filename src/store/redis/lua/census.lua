-- Counts one shard.
--
-- keys: count due
-- args: none
-- answer: time; all counters, name and value in turn; sites that are due; the next site, when it is due, its failures;
--         1 on the server that the shard was last in order on
-- flags: no-writes
-- uses: replication
local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
local failures = first[1] and redis.call('HGET', tag .. 'site:' .. first[1], 'f') or '0'
local isDue = redis.call('ZCOUNT', due, '-inf', num(now))
return { num(now), redis.call('HGETALL', count), isDue, first[1] or '', first[2] or '', failures,
  redis.call('HGET', count, 'server') == replicationId() and 1 or 0 }
