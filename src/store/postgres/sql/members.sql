-- All who took part, in the order in which they came. $1: for how many milliseconds one that was heard is live.
-- Result: the fields of a MemberView.
SELECT m.name AS member, m.seen_at AS "seenAt", m.seen_at > @crawl.moment(NULL) - $1::float8 AS "isLive", m.about,
  coalesce((SELECT sum(t.n) FROM @crawl.counter t WHERE t.name = 'by ' || m.id), 0)::bigint AS settled
FROM @crawl.member m ORDER BY m.id
