-- Sites for people. $1: their ids, in the order wanted. Result: as in site-view.sql, and the link under visit.
SELECT @site_view, k.leased AS text, k.leased_via AS via
FROM unnest($1::bigint[]) WITH ORDINALITY AS u(id, nth) JOIN @crawl.site k ON k.id = u.id ORDER BY u.nth
