-- Keeps what is known of an origin, in place of older ones.
-- Parameters: 1 origin, 2 fetched_at, 3 expires_at, 4 verdict, 5 rules, 6 digest of long rules or null, 7 crawl_delay_ms,
-- 8 failures.
-- Result: none.
INSERT OR REPLACE INTO robots (origin, fetched_at, expires_at, verdict, rules, digest, crawl_delay_ms, failures)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
