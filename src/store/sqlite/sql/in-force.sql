-- The site of a lease, if that is in force.
-- Parameters: 1 name of the site, 2 number of the lease.
-- Result: one row or none, as `LeasedRow` of settle.ts names it.
SELECT id, name, shard, waiting, delay_ms, lease, leased, leased_via, queue, head_at
FROM site WHERE name = ?1 AND state = 1 AND lease = ?2
