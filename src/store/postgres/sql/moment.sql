-- The time handed in, or else the server's, in milliseconds since 1970.
CREATE FUNCTION @crawl.moment(_at float8, OUT ms float8) LANGUAGE sql VOLATILE AS
  $$ SELECT coalesce(_at, (extract(epoch FROM clock_timestamp()) * 1000)::float8) $$;
