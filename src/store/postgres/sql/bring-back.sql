-- Sites that were put aside wait again: all that are parked, with no failures, or those held that have fewer pages than
-- that (null: all); _budgets has the sites with a number of their own. With _scope, queues of links that another scope
-- refused. A parked one need not wait for the end of a long back-off, but does for a full delay, because its last
-- request may just have left. _state and _name: what they are, as a number and as counters have it.
--
-- Looks at _count sites after that one, so that no call holds many: `last` is the one to go on after, null at the end.
CREATE FUNCTION @crawl.bring_back(_member text, _run bigint, _state int, _name text, _pages_max int, _budgets jsonb,
  _scope text, _after bigint, _count int, _at float8, OUT last text)
LANGUAGE plpgsql @settings AS $$
DECLARE
  now_at float8 := @crawl.moment(_at);
  looked bigint[];
  ids bigint[];
  links bigint;
BEGIN
  PERFORM @crawl.fence(_member, _run);
  SELECT array_agg(a.id) INTO looked FROM (
    SELECT k.id FROM @crawl.site k WHERE k.state BETWEEN @parked AND @held AND k.state = _state AND k.id > _after
    ORDER BY k.state, k.id LIMIT _count) a;
  IF cardinality(looked) = _count THEN last := looked[_count]::text; END IF;
  SELECT array_agg(a.id), coalesce(sum(a.waiting), 0) INTO ids, links FROM (
    SELECT k.id, k.waiting FROM @crawl.site k WHERE k.id = ANY (looked) AND k.state = _state
      AND CASE WHEN _state = @parked THEN true
        WHEN _scope IS NULL THEN strpos(k.name, ' ') = 0
        ELSE strpos(k.name, ' !') > 0 AND NOT k.name LIKE '% !' || _scope END
      AND coalesce(k.pages < CASE WHEN _budgets ? k.name THEN (_budgets ->> k.name)::bigint ELSE _pages_max END, true)
      ORDER BY k.id FOR UPDATE) a;
  IF ids IS NULL THEN RETURN; END IF;
  UPDATE @crawl.site k SET state = CASE WHEN k.waiting > 0 THEN @waiting ELSE @idle END,
    failures = CASE _state WHEN @parked THEN 0 ELSE k.failures END, due_at = CASE _state
      WHEN @parked THEN greatest(now_at, least(k.due_at, now_at + k.delay_ms)) ELSE k.due_at END
    WHERE k.id = ANY (ids);
  PERFORM @crawl.tell(jsonb_build_object('waiting', links, _name, -links, 'sites_' || _name,
    CASE WHEN _scope IS NULL THEN -cardinality(ids) ELSE 0 END, 'changes', 1));
END $$;
