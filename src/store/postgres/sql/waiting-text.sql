-- What SQL reads of the text of a waiting link, `depth hops marks tries url`, and the text with other tries. The text
-- is written by store/waiting-text.ts.
CREATE FUNCTION @crawl.depth_of(_text text) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT split_part(_text, ' ', 1)::int $$;
CREATE FUNCTION @crawl.tries_of(_text text) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT split_part(_text, ' ', 4)::int $$;
CREATE FUNCTION @crawl.url_of(_text text) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT split_part(_text, ' ', 5) $$;
CREATE FUNCTION @crawl.with_tries(_text text, _tries int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT split_part(_text, ' ', 1) || ' ' || split_part(_text, ' ', 2) || ' ' || split_part(_text, ' ', 3) || ' ' ||
    _tries::text || ' ' || split_part(_text, ' ', 5) $$;
