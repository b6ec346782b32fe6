-- What a shard remembers of a member: the number of the last batch that it settled here, how many links it settled, how
-- many of those it gave up, and what was refused of the last batch.
local function readBatch(name)
  local written = redis.call('HGET', tag .. 'batch', name) or '0 0 0 '
  local number, settled, given, refused = string.match(written, '^(%d+) (%d+) (%d+) (.*)$')
  return { number = tonumber(number), settled = tonumber(settled), given = tonumber(given), refused = refused }
end
local function writeBatch(name, b)
  redis.call('HSET', tag .. 'batch', name,
    num(b.number) .. ' ' .. num(b.settled) .. ' ' .. num(b.given) .. ' ' .. b.refused)
end
