-- In which sets of their shard sites are, for the check of a whole crawl.
--
-- keys: due lease leased parked held sites
-- args: where to begin in the list of sites; how many
-- answer: each site: name, state (or empty when the site is only on the list), dueAt; its lease as it is written (or
--         empty); its place among the due ones, and among the leases (or empty); 1 if it is among the parked ones, 1
--         if among the held ones
-- flags: no-writes
local from, rows = tonumber(ARGV[4]), {}
for i, site in ipairs(redis.call('LRANGE', sites, from, from + tonumber(ARGV[5]) - 1)) do
  local s = redis.call('HMGET', tag .. 'site:' .. site, 's', 'd')
  rows[i] = {
    site, s[1] or '', s[2] or '', redis.call('HGET', leased, site) or '',
    redis.call('ZSCORE', due, site) or '', redis.call('ZSCORE', lease, site) or '',
    redis.call('SISMEMBER', parked, site), redis.call('SISMEMBER', held, site),
  }
end
return rows
