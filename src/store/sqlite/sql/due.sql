-- Sites of a shard that may be visited, those that are due longest first: answered from the index site_due alone, in
-- its order, so that the cost of a claim does not grow with the number of sites.
-- Parameters: 1 shard, 2 now, 3 how many at the most.
-- Result: a row for each, as `DueRow` of claim.ts names it.
SELECT id, name, waiting, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures, queue, head_at
FROM site WHERE shard = ?1 AND state = 0 AND due_at <= ?2 ORDER BY due_at LIMIT ?3
