-- Sites for people, sorted. $1: a text that is in their names, $2: how many. Result: as in site-view.sql.
-- One statement: the server keeps no more rows than it gives while it sorts, and all of them are from one moment.
SELECT @site_view
FROM (SELECT * FROM @crawl.site k WHERE strpos(k.name, $1) > 0 ORDER BY @order LIMIT $2) k ORDER BY @order
