-- Says that a member lives, and tells it what it should know of the whole crawl.
--
-- keys: members about journal meta shut news
-- args: the runs of this member that may have leases, with commas between them; what it says of itself, as JSON (empty
--       for what is there); milliseconds after which a member that was not heard is dead; shards that went back in
--       time, as far as this member knows, and shards that were opened since, each with spaces between them; shards
--       that this member saw change since its last beat; the tick of that beat (0 for none)
-- answer: the time; the number of the last entry of the journal; the names of all members that live; members that are
--         dead and whose leases are not freed yet, each: name, its runs, its record as it is written; shards that went
--         back in time, as far as any member knows; 1 if the crawl is there at all; the tick of this beat; shards that
--         others saw change since the last one
-- uses: members replication
local runs, about_, deadMs = ARGV[4], ARGV[5], tonumber(ARGV[6])
local own = readMember(redis.call('HGET', members, member))
local place = own and own.place or redis.call('HLEN', members) + 1
redis.call('HSET', members, member, writeMember(place, now, runs, '0'))
if about_ ~= '' then redis.call('HSET', about, member, about_) end
-- On another server, which may have forgotten when others were heard, all have the same time again.
local present = replicationId()
local server = redis.call('HMGET', meta, 'server', 'serverSince')
local since = tonumber(server[2]) or 0
if server[1] ~= present and redis.call('EXISTS', meta) == 1 then
  since = server[1] and now or 0
  redis.call('HSET', meta, 'server', present, 'serverSince', num(since))
end
local live, dead = {}, {}
local all = redis.call('HGETALL', members)
for i = 1, #all, 2 do
  local one = readMember(all[i + 1])
  if now - one.seenAt < deadMs then
    live[#live + 1] = all[i]
  elseif one.freed ~= '1' and now - since >= deadMs then
    dead[#dead + 1] = { all[i], one.runs, all[i + 1] }
  end
end
for shard in string.gmatch(ARGV[8], '%S+') do redis.call('HDEL', shut, shard) end
for shard in string.gmatch(ARGV[7], '%S+') do redis.call('HSET', shut, shard, num(now)) end
local doubted = redis.call('HKEYS', shut)
-- What others said is read before it is written over.
local tick, changed = redis.call('HINCRBY', news, 'tick', 1), {}
local said = redis.call('HGETALL', news)
for i = 1, #said, 2 do
  local at, by = string.match(said[i + 1], '^(%d+) (.+)$')
  if at and tonumber(at) > tonumber(ARGV[10]) and by ~= member then changed[#changed + 1] = said[i] end
end
for shard in string.gmatch(ARGV[9], '%S+') do redis.call('HSET', news, shard, tick .. ' ' .. member) end
return { num(now), redis.call('LLEN', journal), live, dead, doubted, redis.call('EXISTS', meta), tick, changed }
