-- The columns of a site for people, of a row k of the table; `next` may be any of its pages, because the last one would
-- have to be looked for among all. Result: the fields of a SiteView, the state as its number.
k.name AS site, k.state, k.waiting, k.pages, k.due_at AS "dueAt", k.delay_ms AS "delayMs",
k.crawl_delay_ms AS "crawlDelayMs", k.failures, coalesce(@crawl.url_of(k.leased), '') AS leased,
coalesce(@crawl.url_of(k.leased),
  (SELECT @crawl.url_of(b.links[k.head_at + 1]) FROM @crawl.block b WHERE b.site = k.id AND b.position = k.head),
  (SELECT p.url FROM @crawl.page p WHERE p.site = k.id ORDER BY hashtextextended(p.url, 0) LIMIT 1), '') AS next
