-- The text of long rules by their digest; null when it is not there.
CREATE FUNCTION @crawl.rules_of(_digest text, OUT rules text) LANGUAGE plpgsql STABLE @settings AS $$
BEGIN
  SELECT t.text INTO rules FROM @crawl.rules t WHERE t.digest = _digest;
END $$;
