-- Settled pages, in the order they were settled. $1: after this row, $2: up to this one (null: the last), $3: how many.
-- What they must be, or null: $4 the id of their site, $5 their URL (with its site), $6 the status, $7 the outcome,
-- $8 true for those whose server or network failed. Result: row, member (null: unknown), the columns of a page with the
-- name of its site (null: unknown).
--
-- The pages of one site are looked up by its index and sorted: they may be a few among millions.
SELECT p.id AS row, m.name AS member, @page_columns
FROM (
  SELECT * FROM @crawl.page p
  WHERE p.id > $1 AND ($2::bigint IS NULL OR p.id <= $2) AND ($4::bigint IS NULL OR p.site = $4)
    AND ($5::text IS NULL OR (hashtextextended(p.url, 0) = hashtextextended($5, 0) AND p.url = $5))
    AND ($6::int IS NULL OR p.status = $6) AND ($7::text IS NULL OR p.outcome = $7)
    AND ($8::boolean IS NULL OR $8 = (p.outcome = 'server-error' OR starts_with(p.outcome, 'failed-')))
  ORDER BY CASE WHEN $4::bigint IS NULL THEN p.id ELSE p.id + 0 END LIMIT $3
) p LEFT JOIN @crawl.site k ON k.id = p.site LEFT JOIN @crawl.member m ON m.id = p.member ORDER BY p.id
