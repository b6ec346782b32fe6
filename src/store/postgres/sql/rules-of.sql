-- The text of long rules by their digest; null when it is not there.
CREATE FUNCTION @crawl.rules_of(_digest text) RETURNS text LANGUAGE plpgsql STABLE @settings AS $$
BEGIN
  RETURN (SELECT t.text FROM @crawl.rules t WHERE t.digest = _digest);
END $$;
