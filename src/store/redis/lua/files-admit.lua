-- Takes in links of one shard that lie in files by now.
--
-- keys: count due lease
-- args: epoch and changes of the shard (parts/server.lua); number of the opening; how many links are forgotten; then
--       for each site: its name; fingerprints; references to what goes first; references to the others, a line each
-- counts: server epoch changes buckets seen waiting sites
-- answer: the next moments; 1 when it is done, 0 when one of them is known by now, -1 for an earlier opening, and then
--         nothing happened; queues that grew, each: site, elements, links
-- uses: server counters moments queue-files know grow
local grown = {}
local function answer(done)
  return { moments(state), done, grown }
end
if not isOpenAs(ARGV[5]) then return answer(-1) end
for i = 8, #ARGV, 4 do
  for print in string.gmatch(ARGV[i], '%S+') do
    if isKnown(print) then return answer(0) end
  end
end

local function put(to, references)
  for reference in string.gmatch(references, '[^\n]+') do
    local file, _, from, ends = readReference(reference)
    refer(file, ends - from)
    to[#to + 1] = reference
  end
end
for i = 7, #ARGV, 4 do
  open(ARGV[i])
  for print in string.gmatch(ARGV[i + 1], '%S+') do
    know(print)
    s.w = s.w + 1
  end
  put(s.head, ARGV[i + 2])
  put(s.tail, ARGV[i + 3])
  close()
  grown[#grown + 1] = { site, redis.call('LLEN', queueOf(site)), s.w }
end
writeSites()
add('forgotten', tonumber(ARGV[6]))
add('changes', 1)
if #ARGV >= 7 then putSizes() end
writeCounters()
writeQueues()
return answer(1)
