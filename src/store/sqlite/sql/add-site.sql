-- A site of a crawl that comes from another store; its links come later.
-- Parameters: 1 name, 2 shard, 3 state, 4 pages, 5 due_at, 6 delay_ms, 7 crawl_delay_ms, 8 response_ms, 9 failures.
-- Result: none.
INSERT INTO site (name, shard, state, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
