/** The tables of a crawl in PostgreSQL, and the settings that all functions on them share. */

import { fingerprint } from '../../url/fingerprint.ts';

/** Tables and functions together: whoever changes one of them raises this and writes a step in `layout.ts`. */
export const LAYOUT = 1;

/** What a site is doing. The due index holds just the sites that are ready. */
export const SITE_IDLE = 0;
export const SITE_READY = 1;
export const SITE_LEASED = 2;
export const SITE_PARKED = 3;
export const SITE_HELD = 4;

/** Names that PostgreSQL takes as they are; with the prefix they stay below its 63 characters. */
const CRAWL_NAME = /^[a-z0-9_]{1,50}$/;

export const isCrawlName = (crawl: string): boolean => CRAWL_NAME.test(crawl);
export const schemaOf = (crawl: string): string => `gossamer_${crawl}`;

/** A name as PostgreSQL's bigint: the same 64 bits, signed. */
export const keyOf = (text: string): bigint => BigInt.asIntN(64, fingerprint(text));

/** Numbers of advisory locks: one space for all who use the database, so they are hashes of what they are for. */
export const lockKey = (schema: string, purpose: 'layout' | 'pages'): bigint => keyOf(`gossamer ${purpose} ${schema}`);
/** Each call of a member holds it, with the hash of its name, until it has ended. */
export const fenceKey = (schema: string): number => Number(BigInt.asIntN(32, fingerprint(`gossamer fence ${schema}`)));

/**
 * The plan of each statement is made once per connection and does not depend on statistics: rows are found by index,
 * one by one, however many there are. Plans that were made when a table was empty would otherwise be kept until it is
 * analysed. Functions that only others call take over their settings.
 */
export const SETTINGS = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`;

/**
 * Dead rows are taken away after so many, whatever the size of the table, and without pausing: a vacuum that lags lets
 * tables grow.
 */
const VACUUM =
  'autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5';

/**
 * A site's row is changed by each claim, settlement and admission to it; `waiting` and the ends of its line are in no
 * index, so that an admission changes no index. Its id is the fingerprint of its name: a link's site is known without
 * asking.
 *
 * Waiting links lie in blocks: what one page gives one site is one row. The blocks of a site are numbered from `head`
 * to `tail` without a gap (an empty line has head = tail + 1), so that a new one touches no other; `head_at` is how far
 * the first has been read.
 *
 * `tally` has a row per counter and slot; a counter's value is the sum. The slot is the backend's, so that transactions
 * do not queue for a row.
 */
export const tables = (s: string): string => `
  CREATE TABLE ${s}.meta (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE ${s}.mark (name text PRIMARY KEY, value float8 NOT NULL);
  CREATE TABLE ${s}.member (
    id int GENERATED ALWAYS AS IDENTITY, name text PRIMARY KEY, run bigint NOT NULL, batch bigint NOT NULL DEFAULT 0,
    archive_file text NOT NULL DEFAULT '', archive_bytes bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 20);
  CREATE TABLE ${s}.tally (slot int, name text, n bigint NOT NULL, PRIMARY KEY (slot, name)) WITH (fillfactor = 20, autovacuum_vacuum_cost_delay = 0);

  CREATE SEQUENCE ${s}.lease;
  CREATE SEQUENCE ${s}.found CACHE 100;
  CREATE TABLE ${s}.site (
    id bigint PRIMARY KEY,
    found bigint NOT NULL DEFAULT nextval('${s}.found'),
    due_at float8 NOT NULL,
    delay_ms float8 NOT NULL DEFAULT 0,
    crawl_delay_ms float8 NOT NULL DEFAULT 0,
    response_ms float8 NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 1,
    tail bigint NOT NULL DEFAULT 0,
    lease bigint,
    until float8,
    head_at int NOT NULL DEFAULT 0,
    waiting int NOT NULL DEFAULT 0,
    pages int NOT NULL DEFAULT 0,
    failures int NOT NULL DEFAULT 0,
    tries int,
    shard int NOT NULL,
    state smallint NOT NULL DEFAULT ${SITE_IDLE},
    name text NOT NULL,
    holder text,
    leased text,
    leased_via text
  ) WITH (fillfactor = 60, ${VACUUM});
  CREATE INDEX site_due ON ${s}.site (shard, due_at) WHERE state = ${SITE_READY};
  CREATE INDEX site_leased ON ${s}.site (until) WHERE state = ${SITE_LEASED};
  CREATE INDEX site_aside ON ${s}.site (state) WHERE state > ${SITE_LEASED};

  CREATE TABLE ${s}.block (
    site bigint, position bigint, read_to int NOT NULL DEFAULT 0, via text NOT NULL, links text[] NOT NULL, PRIMARY KEY (site, position)
  ) WITH (toast_tuple_target = 8160, ${VACUUM});

  CREATE TABLE ${s}.robots (
    origin text PRIMARY KEY, fetched_at float8 NOT NULL, expires_at float8 NOT NULL, verdict text NOT NULL, rules text NOT NULL, crawl_delay_ms float8
  ) WITH (${VACUUM});

  CREATE TABLE ${s}.seen (print bigint PRIMARY KEY);

  CREATE TABLE ${s}.page (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, member int NOT NULL, site bigint NOT NULL, url text NOT NULL, outcome text NOT NULL, status int,
    at float8 NOT NULL, duration_ms float8 NOT NULL, content_type text NOT NULL, bytes bigint NOT NULL, title text NOT NULL, language text NOT NULL,
    redirect text NOT NULL, digest text NOT NULL, truncated text NOT NULL, noindex boolean NOT NULL, depth int NOT NULL, via text NOT NULL, tries int NOT NULL,
    robots text NOT NULL, detail text NOT NULL, extracted text NOT NULL, file text, "offset" bigint, length bigint, group_length bigint
  );
  ${pageIndex(s)};
`;

/** Pages by site, and by site and address. */
export const pageIndex = (s: string): string =>
  `CREATE INDEX page_of_site ON ${s}.page (site, hashtextextended(url, 0))`;

/** Slots of the counters; far more than connections to one crawl, so that two rarely meet. */
const TALLY_SLOTS = 32;

/**
 * `fence` keeps the calls of a member's former process out: its leases were freed and its archive cut, and a call of it
 * may still be on its way. Each call holds the fence open, `enter` closes it while it counts the run up.
 */
export const sharedFunctions = (s: string): string => `
  CREATE FUNCTION ${s}.moment(_at float8) RETURNS float8 LANGUAGE sql VOLATILE AS
    $$ SELECT coalesce(_at, (extract(epoch FROM clock_timestamp()) * 1000)::float8) $$;

  CREATE FUNCTION ${s}.fence(_member text, _run bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(${fenceKey(s)}, hashtext(_member));
    PERFORM FROM ${s}.member WHERE name = _member AND run = _run;
    IF NOT FOUND THEN RAISE EXCEPTION 'member % was opened again by another process', _member USING ERRCODE = 'GS001'; END IF;
  END $$;

  CREATE FUNCTION ${s}.tell(_names text[], _by bigint[]) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO ${s}.tally AS t (slot, name, n)
      SELECT pg_backend_pid() % ${TALLY_SLOTS}, u.name, u.n FROM unnest(_names, _by) AS u(name, n) WHERE u.n <> 0 ORDER BY u.name
      ON CONFLICT (slot, name) DO UPDATE SET n = t.n + EXCLUDED.n;
  END $$;

  CREATE FUNCTION ${s}.enter(_member text, _at float8, OUT run bigint, OUT batch bigint, OUT archive_file text, OUT archive_bytes bigint)
  LANGUAGE plpgsql ${SETTINGS} AS $$
  #variable_conflict use_column
  BEGIN
    PERFORM pg_advisory_xact_lock(${fenceKey(s)}, hashtext(_member));
    INSERT INTO ${s}.member AS m (name, run) VALUES (_member, 1) ON CONFLICT (name) DO UPDATE SET run = m.run + 1
      RETURNING m.run, m.batch, m.archive_file, m.archive_bytes INTO run, batch, archive_file, archive_bytes;
    PERFORM ${s}.free_held(_member, NULL, true, NULL, _at);
  END $$;
`;
