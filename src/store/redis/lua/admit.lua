-- Takes in the links of one shard that were never seen.
--
-- keys: count due lease
-- args: links that may wait per site (empty for any number); then for each run of links of one site that were found on
--       one page, those of a site together: site; page; a line per link: fingerprint, 1 if it goes first, its text
-- answer: the next moments; how many were admitted, seen, forgotten; sites that are full
-- uses: moments queue-store know grow
local most = tonumber(ARGV[4]) or math.huge
local admitted, known, forgotten, full = 0, 0, 0, {}
for i = 5, #ARGV, 3 do
  local name, via = ARGV[i], ARGV[i + 1]
  if name ~= site then
    close()
    open(name)
  end
  for print, first, text in string.gmatch(ARGV[i + 2], '(%S+) (%d) ([^\n]+)\n') do
    if first == '0' and s.w >= most then
      if isKnown(print) then
        known = known + 1
      else
        forgotten = forgotten + 1
        if full[#full] ~= site then full[#full + 1] = site end
      end
    elseif know(print) then
      admitted, s.w = admitted + 1, s.w + 1
      pack(first == '1' and s.head or s.tail, via, text)
    else
      known = known + 1
    end
  end
end
close()
writeSites()
add('forgotten', forgotten)
if admitted + forgotten > 0 then add('changes', 1) end
writeCounters()
if admitted > 0 then writeSizes() end
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, admitted, known, forgotten, full }
