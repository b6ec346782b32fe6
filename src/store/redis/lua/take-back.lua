-- Undoes settlements of one shard: their links wait again, first in their queues, and count as settled no more.
--
-- keys: count due lease
-- args: the member that settled them; JSON: a list for each link, those of a site together: site, where it was found,
--       its text, outcome, 1 if a server answered, bytes archived
-- answer: nothing
-- uses: many queue-store grow batch
local who, pages = ARGV[4], {}
local mine = readBatch(who)
for _, t in ipairs(cjson.decode(ARGV[5])) do
  if t[1] ~= site then
    close()
    open(t[1])
  end
  pack(s.head, t[2], t[3])
  s.w = s.w + 1
  add('settled:' .. t[4], -1)
  add('pages', -t[5])
  add('archived', -t[6])
  pages[t[1]] = (pages[t[1]] or 0) + t[5]
  mine.settled = math.max(0, mine.settled - 1)
end
close()
writeSites()
for name, n in pairs(pages) do redis.call('HINCRBY', tag .. 'site:' .. name, 'p', -n) end
writeBatch(who, mine)
add('changes', 1)
writeCounters()
return ''
