-- Which server this is: another one after every restart and every failover, which may have cost the last seconds.
-- `meta` keeps the one that the crawl was opened on (`server`), and since when (`floor`): while it is not the present
-- one the crawl is shut. Nothing is claimed and settled until every member has put right what is its own; see beat.sql.
CREATE FUNCTION @crawl.present(OUT server text) LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF pg_is_in_recovery() THEN RAISE EXCEPTION 'the server is a standby' USING ERRCODE = '25006'; END IF;
  server := left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' ' || extract(epoch FROM pg_postmaster_start_time());
END $$;
-- Whether a member that knows that server may go on.
CREATE FUNCTION @crawl.is_open(_server text) RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT @crawl.present() = _server AND EXISTS (
    SELECT FROM @crawl.meta m WHERE m.name = 'server' AND m.value = _server) $$;
-- What members must be ready for, while the crawl is shut; null when it is open. Whoever finds it shut first notes
-- when.
CREATE FUNCTION @crawl.shut_for(_at float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  kept text := (SELECT m.value FROM @crawl.meta m WHERE m.name = 'server');
  cause text := @crawl.present() || '/' || kept;
BEGIN
  IF kept = @crawl.present() THEN RETURN NULL; END IF;
  INSERT INTO @crawl.meta AS m (name, value) VALUES ('shut', @crawl.moment(_at) || ' ' || cause)
    ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value
      WHERE substr(m.value, strpos(m.value, ' ') + 1) <> cause;
  RETURN cause;
END $$;
-- Opens the crawl when every member is ready or known to be dead. Until a full delay from now no site is visited.
CREATE FUNCTION @crawl.open_for(_shut text, _at float8) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM @crawl.member m WHERE m.ready <> _shut AND NOT m.freed) THEN RETURN false; END IF;
  INSERT INTO @crawl.meta AS m (name, value) VALUES ('server', @crawl.present()), ('floor', @crawl.moment(_at)::text)
    ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value;
  PERFORM @crawl.tell('{"changes": 1}');
  RETURN true;
END $$;
