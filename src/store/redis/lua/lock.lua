-- Takes or opens the lock around the last pages.
--
-- keys: room
-- args: token; milliseconds after which the lock opens by itself (empty to open it now, if it is ours)
-- answer: 1 if it is ours
if ARGV[5] ~= '' and redis.call('SET', room, ARGV[4], 'NX', 'PX', ARGV[5]) then return 1 end
if redis.call('GET', room) ~= ARGV[4] then return 0 end
if ARGV[5] == '' then redis.call('DEL', room) end
return 1 -- ours already: the answer was lost
