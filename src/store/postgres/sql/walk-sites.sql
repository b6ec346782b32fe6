-- Sites, each followed by the blocks of its queue. $1: ids of sites in the order wanted; $2 and $3: nth and position of
-- the last row that was given (0 and null: none), $4: how many rows. Result: nth, the place of the site among the ids;
-- for a site `site`; for a block its position, and what else queue.sql gives.
SELECT u.nth, b.*
FROM unnest($1::bigint[]) WITH ORDINALITY AS u(id, nth)
CROSS JOIN LATERAL (SELECT * FROM @crawl.site s WHERE s.id = u.id OFFSET 0) k
CROSS JOIN LATERAL (
  SELECT NULL::bigint AS position, NULL AS via, NULL::text[] AS links, json_build_object('id', k.id::text,
      'found', json_build_object('site', k.name, 'shard', k.shard, 'waiting', k.waiting, 'pages', k.pages,
        'pace', @crawl.pace(k)), 'state', k.state, 'leased', k.leased, 'via', coalesce(k.leased_via, ''),
      'lease', k.lease, 'holder', k.holder, 'head', k.head, 'tail', k.tail) AS site WHERE u.nth > $2
  UNION ALL
  (SELECT q.*, NULL FROM @crawl.queue(k.id, CASE WHEN u.nth = $2 THEN $3::bigint END, $4::int) q ORDER BY q.position)
) b
WHERE u.nth >= $2 LIMIT $4
