-- Which server this is, in its present life: the id changes with every start and every promotion. Two microseconds.
local function replicationId() return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') end
