-- Parked sites may be visited again: not after a long back-off any more, but never before a full delay, because the
-- last request may just have left.
-- Parameters: 1 now.
-- Result: none.
UPDATE site SET state = iif(waiting > 0, 0, 4), failures = 0, due_at = max(?1, min(due_at, ?1 + delay_ms))
WHERE state IN (2, 3) AND state = 2 -- with both, SQLite sees that the index site_aside has them all
