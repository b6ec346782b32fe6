-- Writes the rules of origins, each once, over those that were there: objects as `rules` gives them.
CREATE FUNCTION @crawl.keep_robots(_robots json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO @crawl.robots AS r (origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms,
      failures)
    SELECT u.* FROM json_to_recordset(_robots) AS u(origin text, "fetchedAt" float8, "expiresAt" float8, verdict text,
      rules text, "crawlDelayMs" float8, failures int) ORDER BY u.origin
    ON CONFLICT (origin) DO UPDATE SET fetched_at = EXCLUDED.fetched_at, expires_at = EXCLUDED.expires_at,
      verdict = EXCLUDED.verdict, rules = EXCLUDED.rules, crawl_delay_ms = EXCLUDED.crawl_delay_ms,
      failures = EXCLUDED.failures;
END $$;
