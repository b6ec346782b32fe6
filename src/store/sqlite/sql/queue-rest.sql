-- When a queue may be claimed next, and what is known of its pace.
-- Parameters: 1 id of the queue, 2 due_at, 3 delay_ms, 4 crawl_delay_ms, 5 response_ms, 6 failures.
-- Result: none.
UPDATE site SET due_at = ?2, delay_ms = ?3, crawl_delay_ms = ?4, response_ms = ?5, failures = ?6 WHERE id = ?1
