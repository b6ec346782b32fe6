-- What rows do not tell, besides the census. $1: a member. Result: the notes, and the names of other members that have
-- files of the archive.
SELECT coalesce((SELECT json_object_agg(substr(m.name, length('@note') + 1), m.value)
    FROM @crawl.meta m WHERE starts_with(m.name, '@note')), '{}') AS notes,
  ARRAY(SELECT m.name FROM @crawl.member m WHERE m.name <> $1 AND m.archive_file <> '' ORDER BY m.name) AS elsewhere
