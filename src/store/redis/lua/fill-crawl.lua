-- Fills what is of the whole crawl, on its way from another store.
--
-- keys: meta notes journal entries members about
-- args: `begin`, `take` or `end`; token of this filling; to begin: layout, number of shards; to take, as JSON: marks
--       and notes, name and value in turn each; entries of the journal as they are written, and ids with their number
--       in turn; members with their record, and with what they say of themselves, in turn
-- answer: `done`; `whole` when a whole crawl is there; `overtaken` when another filling has begun meanwhile
-- uses: many
local phase, token, filling = ARGV[4], ARGV[5], redis.call('HGET', meta, 'filling')
if phase == 'begin' then
  -- what it said of itself before is gone
  if not filling and redis.call('EXISTS', meta) == 1 then return 'whole' end
  redis.call('DEL', meta, notes, journal, entries, members, about)
  redis.call('HSET', meta, 'layout', ARGV[6], 'shards', ARGV[7], 'filling', token)
  return 'done'
end
if phase == 'end' and not filling then return 'done' end -- the answer was lost
if filling ~= token then return 'overtaken' end
if phase == 'take' then
  local given = cjson.decode(ARGV[6])
  many('HSET', meta, given.marks)
  many('HSET', notes, given.notes)
  many('RPUSH', journal, given.journal)
  many('HSET', entries, given.entries)
  many('HSET', members, given.members)
  many('HSET', about, given.about)
else
  redis.call('HSET', meta, 'frontier', 'store')
  redis.call('HDEL', meta, 'filling')
end
return 'done'
