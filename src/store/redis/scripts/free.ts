/** Frees leases of one member in one shard: those of a holder that died, or all when its directory is opened. */

import { COUNTERS, FREE, IN_STORE, NEXT, script, type Pieces } from './parts.ts';

/**
 * KEYS count, due, lease, leased, gone, batch
 * ARGV tag, time, member; holder (empty for all of this member); 1 if the claims are counted; of that lease alone
 * (empty
 *      for any); claims after which a link is given up
 *
 * Answers: next moments; the leases that were freed; links given up whose rows this member has not written yet, those
 * of earlier calls included; the last batch of this member with what was refused of it. In one step: a settlement on
 * its way from a process that died comes before all of it, or is refused.
 */
export const freeScript = ({ line, lease }: Pieces) =>
  script(
    ['count', 'due', 'lease', 'leased', 'gone', 'batch'],
    `
${COUNTERS}${NEXT}${line}${lease}${FREE}
local holder, counted, culprit, claimsMax = ARGV[4], ARGV[5] == '1', ARGV[6], tonumber(ARGV[7])
local freed = {}
for _, site in ipairs(redis.call('SMEMBERS', tag .. 'mine:' .. member)) do
  local l = readLease(site)
  if holder == '' or l.holder == holder then
    freeLease(site, l, { counted = counted and (culprit == '' or culprit == l.id), at = now, claimsMax = claimsMax })
    freed[#freed + 1] = l.id
  end
end
if #freed > 0 then add('changes', 1) end
writeCounters()
local at, dueAt, endsAt = moments()
return { at, dueAt, endsAt, freed, redis.call('LRANGE', gone, 0, -1), redis.call('HGET', batch, member) or '0 ' }
`,
  );

export const FREE_HOLDER = freeScript(IN_STORE);
