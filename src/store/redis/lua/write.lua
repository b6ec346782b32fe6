-- Writes an entry to the journal of the crawl, unless one with its id is there.
--
-- keys: journal entries meta
-- args: id; text
-- answer: the number of the entry
local id, text = ARGV[4], ARGV[5]
local number = redis.call('HGET', entries, id)
if number then return tonumber(number) end
number = redis.call('RPUSH', journal, cjson.encode({ id, num(now), text }))
redis.call('HSET', entries, id, number)
redis.call('HINCRBY', meta, 'changes', 1)
return number
