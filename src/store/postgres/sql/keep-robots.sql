-- Writes the records of origins, each once, over those that were there: objects as `record` gives them. One whose rules
-- are new and long has their text with it.
CREATE FUNCTION @crawl.keep_robots(_robots json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO @crawl.rules (digest, text)
    SELECT DISTINCT ON (1) u.rules ->> 'digest', u.text FROM json_to_recordset(_robots) AS u(rules json, text text)
    WHERE u.text IS NOT NULL ORDER BY 1
    ON CONFLICT (digest) DO NOTHING;
  INSERT INTO @crawl.robots AS r (origin, fetched_at, expires_at, verdict, rules, digest, crawl_delay_ms,
      failures)
    SELECT u.origin, u."fetchedAt", u."expiresAt", u.verdict,
      CASE json_typeof(u.rules) WHEN 'string' THEN u.rules #>> '{}' ELSE '' END,
      CASE json_typeof(u.rules) WHEN 'object' THEN u.rules ->> 'digest' END, u."crawlDelayMs", u.failures
    FROM json_to_recordset(_robots) AS u(origin text, "fetchedAt" float8, "expiresAt" float8, verdict text,
      rules json, "crawlDelayMs" float8, failures int) ORDER BY u.origin
    ON CONFLICT (origin) DO UPDATE SET fetched_at = EXCLUDED.fetched_at, expires_at = EXCLUDED.expires_at,
      verdict = EXCLUDED.verdict, rules = EXCLUDED.rules, digest = EXCLUDED.digest,
      crawl_delay_ms = EXCLUDED.crawl_delay_ms, failures = EXCLUDED.failures;
END $$;
