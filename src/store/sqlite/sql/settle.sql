-- Ends the lease of a site whose visit is settled.
-- Parameters: 1 id of the site, 2 state, 3 links that wait again (0 or 1), 4 pages more (0 or 1), 5 due_at, 6 delay_ms,
--   7 crawl_delay_ms, 8 response_ms, 9 failures, 10 queue, 11 head_at.
-- Result: none.
UPDATE site SET state = ?2, waiting = waiting + ?3, pages = pages + ?4, due_at = ?5, delay_ms = ?6, crawl_delay_ms = ?7,
  response_ms = ?8, failures = ?9, queue = ?10, head_at = ?11, lease = NULL, holder = NULL, leased = NULL,
  leased_via = NULL
WHERE id = ?1
