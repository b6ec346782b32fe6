-- Leased sites of one holder, or of all.
-- Parameters: 1 holder, or null for all.
-- Result: a row for each, as `LeasedRow` of settle.ts names it.
SELECT id, name, shard, waiting, delay_ms, lease, leased, leased_via, queue, head_at
FROM site WHERE state = 1 AND (?1 IS NULL OR holder = ?1)
