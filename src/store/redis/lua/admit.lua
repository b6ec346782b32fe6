-- Takes in the links of one shard that were never seen.
--
-- keys: count due lease
-- args: epoch and changes of the shard (parts/server.lua); links that may wait per site (empty for any number); then
--       for each run of links of one site that were found on one page, those of a site together: site; page; a line per
--       link: fingerprint, 1 if it goes first, its text
-- counts: server epoch changes buckets seen waiting sites
-- answer: the next moments; a character per link: + was taken, = is known, - is over what may wait
-- uses: server counters moments queue-store know grow
local most = tonumber(ARGV[5]) or math.huge
local admitted, forgotten, fates = 0, 0, {}
for i = 6, #ARGV, 3 do
  local name, via = ARGV[i], ARGV[i + 1]
  if name ~= site then
    close()
    open(name)
  end
  for print, first, text in string.gmatch(ARGV[i + 2], '(%S+) (%d) ([^\n]+)\n') do
    local fate = '='
    if first == '0' and s.w >= most then
      if not isKnown(print) then
        forgotten, fate = forgotten + 1, '-'
      end
    elseif know(print) then
      admitted, s.w, fate = admitted + 1, s.w + 1, '+'
      pack(first == '1' and s.head or s.tail, via, text)
    end
    fates[#fates + 1] = fate
  end
end
close()
writeSites()
add('forgotten', forgotten)
if admitted + forgotten > 0 then add('changes', 1) end
if admitted > 0 then putSizes() end
writeCounters()
return { momentsAfter(state, dueNow), table.concat(fates) }
