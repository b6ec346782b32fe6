-- Frees leases of one member in one shard: those of a holder that died, all when its directory is opened, or those of
-- some of its runs. In one step: a settlement on its way from a process that died comes before all of it, or is
-- refused.
--
-- keys: count due lease leased gone:<member>
-- args: the member that has the leases; its runs, with commas between them (empty for any); holder (empty for any); 1
--       if the claims are counted; the number of the one lease that is (empty for any); claims after which a link is
--       given up
-- answer: the next moments; links given up whose rows this member has not written yet, those of earlier steps included;
--         what the shard remembers of this member
-- uses: counters moments queue lease free
local of, holder, counted, culprit, claimsMax = ARGV[4], ARGV[6], ARGV[7] == '1', ARGV[8], tonumber(ARGV[9])
local isOf, freed = {}, 0
for run in string.gmatch(ARGV[5], '[^,]+') do isOf[run] = true end
local leases = redis.call('HGETALL', leased)
for i = 1, #leases, 2 do
  local site, l = leases[i], readLease(leases[i + 1])
  if l and string.match(l.holder, '^[^/]*') == of and (holder == '' or l.holder == holder)
    and (ARGV[5] == '' or isOf[l.run]) then
    local isCounted = counted and (culprit == '' or culprit == l.number)
    freeLease(site, l, { counted = isCounted, at = now, claimsMax = claimsMax })
    freed = freed + 1
  end
end
if freed > 0 then add('changes', 1) end
writeGiven()
writeCounters()
local last = redis.call('HGET', tag .. 'batch', member) or ''
return { moments(), redis.call('LRANGE', gone, 0, -1), last }
