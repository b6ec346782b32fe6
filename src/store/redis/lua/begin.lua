-- Begins a crawl, or goes on with one; or keeps a note unless it is there. Writes nothing more to a crawl of another
-- layout or number of shards, or to one that is being filled.
--
-- keys: meta notes
-- args: layout; number of shards; where waiting links lie, `store` or `files` (empty for what is there); name and text
--       of a note
-- answer: layout, shards, mark of a filling (or nil), where waiting links lie, the member that has their files (or
--         nil), as the crawl has them; the note as it is there (or empty)
redis.call('HSETNX', meta, 'layout', ARGV[4])
redis.call('HSETNX', meta, 'shards', ARGV[5])
local is = redis.call('HMGET', meta, 'layout', 'shards', 'filling')
local note = ''
if is[1] == ARGV[4] and not is[3] then
  if ARGV[7] then
    redis.call('HSETNX', notes, ARGV[7], ARGV[8])
    note = redis.call('HGET', notes, ARGV[7])
  elseif ARGV[6] ~= '' and is[2] == ARGV[5] then
    redis.call('HSETNX', meta, 'frontier', ARGV[6])
    if redis.call('HGET', meta, 'frontier') == 'files' then redis.call('HSETNX', meta, 'filesOf', member) end
  end
end
return { redis.call('HMGET', meta, 'layout', 'shards', 'filling', 'frontier', 'filesOf'), note }
