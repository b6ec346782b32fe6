-- Makes URLs of one shard unknown that were settled and of which nothing else is left, so that they can be found again.
--
-- keys: count
-- args: JSON: `prints`: their fingerprints; `counts`: what is taken from counters; `pages`: site and pages in turn;
--       `lost`: members that have settled nothing any more; `settled`: member and how many
--       rows it has here, in turn; links that it gave up and has not written rows of come to them
-- answer: how many there were
-- uses: counters seen batch
local given = cjson.decode(ARGV[4])
local gone = 0
for _, print in ipairs(given.prints) do gone = gone + redis.call('SREM', bucketOf(print), print) end
if gone > 0 then redis.call('HSET', count, 'seen', prints - gone) end
for name, n in pairs(given.counts) do add(name, -n) end
for i = 1, #given.pages, 2 do
  redis.call('HINCRBY', tag .. 'site:' .. given.pages[i], 'p', -given.pages[i + 1])
  add('pages', -given.pages[i + 1])
end
for _, name in ipairs(given.lost) do
  redis.call('HDEL', tag .. 'batch', name)
  redis.call('DEL', tag .. 'gone:' .. name)
end
for i = 1, #given.settled, 2 do
  local b = readBatch(given.settled[i])
  b.settled = given.settled[i + 1] + redis.call('LLEN', tag .. 'gone:' .. given.settled[i])
  writeBatch(given.settled[i], b)
end
add('changes', 1)
writeCounters()
return gone
