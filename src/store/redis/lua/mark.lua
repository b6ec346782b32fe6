-- Remembers how far one-time work has come.
--
-- keys: meta
-- args: name; value
-- answer: nothing
redis.call('HSET', meta, 'mark:' .. ARGV[4], ARGV[5])
redis.call('HINCRBY', meta, 'changes', 1)
return ''
