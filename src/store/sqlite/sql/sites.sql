-- Sites with all that their rows say; conditions, order and limit follow where the statement is used.
-- Parameters: none here.
-- Result: a row for each, as `SiteRow` of site-row.ts names it.
SELECT id, name, shard, state, waiting, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures,
  leased, leased_via, queue, head_at
FROM site
