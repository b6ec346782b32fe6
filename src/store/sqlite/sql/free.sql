-- Ends the lease of a site whose holder has died or was stopped.
-- Parameters: 1 id of the site, 2 state, 3 links that wait again (0 or 1), 4 due_at, 5 queue, 6 head_at.
-- Result: none.
UPDATE site SET state = ?2, waiting = waiting + ?3, due_at = ?4, queue = ?5, head_at = ?6,
  lease = NULL, holder = NULL, leased = NULL, leased_via = NULL
WHERE id = ?1
