-- The tables of a crawl. Those of known URLs and of pages get their indexes by make_whole.
--
-- site     Each claim, settlement and admission changes its row. `waiting` and the ends of the queue are in no index,
--          so that an admission changes none. The id is the fingerprint of the name: it is known without asking.
-- block    Waiting links, each a text as in waiting-text.sql: what one page gives one site is one row. The blocks of
--          a site are numbered from `head` to `tail` without a gap (an empty queue has head = tail + 1), so that a new
--          one touches no other. `head_at` is how many links of the first were taken; `read_to` keeps that for a block
--          that others were put before.
-- rules    Texts of long rules, each once, however many rows of `robots` name it by its `digest`; their own `rules` are
--          empty then.
-- member   Who takes part. `run` counts the openings of its directory, `beats` how often it was heard, last at
--          `seen_at`; `freed` when its leases were freed because it was not heard any more; `ready` for what, see
--          reign.sql.
-- journal  Changes to the crawl, numbered from 1 without a gap.
-- tally    Counters: a row per slot, or per slot and name in `counter`, and a counter is the sum of them. The slot is
--          the backend's, so that transactions do not queue for a row.
CREATE TABLE @crawl.meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE @crawl.mark (name text PRIMARY KEY, value float8 NOT NULL);
CREATE TABLE @crawl.member (
  id int GENERATED ALWAYS AS IDENTITY, name text PRIMARY KEY, run bigint NOT NULL, batch bigint NOT NULL DEFAULT 0,
  archive_file text NOT NULL DEFAULT '', archive_bytes bigint NOT NULL DEFAULT 0, settled_at float8 NOT NULL DEFAULT 0,
  beats bigint NOT NULL DEFAULT 0, seen_at float8 NOT NULL DEFAULT 0, freed boolean NOT NULL DEFAULT true, about json,
  ready text NOT NULL DEFAULT ''
) WITH (fillfactor = 20);
CREATE TABLE @crawl.journal (
  number bigint PRIMARY KEY, id text NOT NULL UNIQUE, at float8 NOT NULL, text text NOT NULL
);
CREATE TABLE @crawl.tally (
  slot int PRIMARY KEY, waiting bigint NOT NULL, leased bigint NOT NULL, parked bigint NOT NULL, held bigint NOT NULL,
  pages bigint NOT NULL, sites bigint NOT NULL, sites_parked bigint NOT NULL, sites_held bigint NOT NULL,
  forgotten bigint NOT NULL, archived bigint NOT NULL, changes bigint NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_cost_delay = 0);
CREATE TABLE @crawl.counter (slot int, name text, n bigint NOT NULL, PRIMARY KEY (slot, name))
  WITH (fillfactor = 20, autovacuum_vacuum_cost_delay = 0);

CREATE SEQUENCE @crawl.found CACHE 100;
CREATE TABLE @crawl.site (
  id bigint PRIMARY KEY, found bigint NOT NULL DEFAULT nextval('@crawl.found'),
  due_at float8 NOT NULL, delay_ms float8 NOT NULL DEFAULT 0, crawl_delay_ms float8 NOT NULL DEFAULT 0,
  response_ms float8 NOT NULL DEFAULT 0,
  head bigint NOT NULL DEFAULT 1, tail bigint NOT NULL DEFAULT 0, lease text, until float8,
  head_at int NOT NULL DEFAULT 0, waiting int NOT NULL DEFAULT 0, pages int NOT NULL DEFAULT 0,
  failures int NOT NULL DEFAULT 0, shard int NOT NULL, state smallint NOT NULL DEFAULT @idle,
  name text NOT NULL, holder text, leased text, leased_via text
) WITH (fillfactor = 60, @vacuum);
CREATE INDEX site_due ON @crawl.site (shard, due_at) WHERE state = @waiting;
CREATE INDEX site_leased ON @crawl.site (until) WHERE state = @leased;
CREATE INDEX site_aside ON @crawl.site (state, id) WHERE state BETWEEN @parked AND @held;

CREATE TABLE @crawl.block (
  site bigint, position bigint, read_to int NOT NULL DEFAULT 0, via text NOT NULL, links text[] NOT NULL,
  PRIMARY KEY (site, position)
) WITH (toast_tuple_target = 8160, @vacuum);

CREATE TABLE @crawl.robots (
  origin text PRIMARY KEY, fetched_at float8 NOT NULL, expires_at float8 NOT NULL, verdict text NOT NULL,
  rules text NOT NULL, digest text, crawl_delay_ms float8, failures int NOT NULL
) WITH (@vacuum);
CREATE TABLE @crawl.rules (digest text PRIMARY KEY, text text NOT NULL);

CREATE TABLE @crawl.seen (print bigint NOT NULL);
CREATE TABLE @crawl.page (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, member int NOT NULL, @page_declared
);
