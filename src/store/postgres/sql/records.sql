-- Rows as the program has them: the pace of a site, the record of an origin, with its rules or the name of long ones.
CREATE FUNCTION @crawl.pace(_site @crawl.site) RETURNS json LANGUAGE sql STABLE AS
  $$ SELECT json_build_object('dueAt', _site.due_at, 'delayMs', _site.delay_ms, 'crawlDelayMs', _site.crawl_delay_ms,
    'responseMs', _site.response_ms, 'failures', _site.failures) $$;
CREATE FUNCTION @crawl.record(_robots @crawl.robots) RETURNS json LANGUAGE sql STABLE AS
  $$ SELECT json_build_object('origin', _robots.origin, 'fetchedAt', _robots.fetched_at,
    'expiresAt', _robots.expires_at, 'verdict', _robots.verdict,
    'rules', CASE WHEN _robots.digest IS NULL THEN to_json(_robots.rules)
      ELSE json_build_object('digest', _robots.digest) END,
    'crawlDelayMs', _robots.crawl_delay_ms, 'failures', _robots.failures) $$;
