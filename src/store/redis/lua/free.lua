-- Frees leases of one member in one shard: those of a holder that died, or all when its directory is opened. In one
-- step: a settlement on its way from a process that died comes before all of it, or is refused.
--
-- keys: count due lease leased gone:<member> batch
-- args: holder (empty for all of this member); 1 if the claims are counted; of that lease alone (empty for any); claims
--       after which a link is given up
-- answer: the next moments; the leases that were freed; links given up whose rows this member has not written yet,
--         those of earlier steps included; the last batch of this member with what was refused of it
-- uses: counters moments queue lease free
local holder, counted, culprit, claimsMax = ARGV[4], ARGV[5] == '1', ARGV[6], tonumber(ARGV[7])
local freed = {}
local leases = redis.call('HGETALL', leased)
for i = 1, #leases, 2 do
  local site, l = leases[i], readLease(leases[i + 1])
  if l and (l.holder == holder or holder == '' and string.match(l.holder, '^[^/]*') == member) then
    freeLease(site, l, { counted = counted and (culprit == '' or culprit == l.id), at = now, claimsMax = claimsMax })
    freed[#freed + 1] = l.id
  end
end
if #freed > 0 then add('changes', 1) end
writeCounters()
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, freed, redis.call('LRANGE', gone, 0, -1), redis.call('HGET', batch, member) or '0 ' }
