-- Leases a site; its clock moves on, so that it is not visited early whatever becomes of this visit.
-- Parameters: 1 id of the site, 2 queue, 3 head_at, 4 due_at, 5 delay_ms, 6 number of the lease, 7 holder,
--   8 the link as text, 9 the page that it was found on.
-- Result: none.
UPDATE site SET state = 1, waiting = waiting - 1, queue = ?2, head_at = ?3, due_at = ?4, delay_ms = ?5,
  lease = ?6, holder = ?7, leased = ?8, leased_via = ?9
WHERE id = ?1
