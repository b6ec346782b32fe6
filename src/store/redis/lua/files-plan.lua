-- Decides which links of one shard are to be taken in, where waiting links lie in files.
--
-- keys: count due lease
-- args: links that may wait per site (empty for any number); then for each site: its name; a line per link:
--       fingerprint, 1 if it goes first
-- counts: buckets seen changes
-- answer: the next moments; for each site a character per link: + is to be taken, = is known, - is over what may wait
-- flags: no-writes
-- uses: counters moments seen
local most = tonumber(ARGV[4]) or math.huge
local plans, taken = {}, {}
for i = 5, #ARGV, 2 do
  local w = tonumber(redis.call('HGET', tag .. 'site:' .. ARGV[i], 'w')) or 0
  local plan = {}
  for print, first in string.gmatch(ARGV[i + 1], '(%S+) (%d)\n') do
    local fate = '+'
    if taken[print] or isKnown(print) then
      fate = '='
    elseif first == '0' and w >= most then
      fate = '-'
    else
      taken[print] = true
      w = w + 1
    end
    plan[#plan + 1] = fate
  end
  plans[#plans + 1] = table.concat(plan)
end
return { moments(), plans }
