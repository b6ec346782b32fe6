-- Keeps the robots rules of an origin, in place of older ones.
-- Parameters: 1 origin, 2 fetched_at, 3 expires_at, 4 verdict, 5 rules, 6 crawl_delay_ms.
-- Result: none.
INSERT OR REPLACE INTO robots (origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
