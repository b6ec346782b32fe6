-- The tables of the embedded store, except `page`: its columns follow from the table in src/model/page.ts.
-- Parameters: none.
-- Result: none.
--
-- Waiting links lie in blocks: what one page gives one site is one row, links as src/store/waiting-text.ts writes them,
-- a line each. `site.queue` has the numbers of its blocks in order, the middle of a long queue in packs
-- (src/lib/long-queue.ts), so that new blocks are appended in rowid order, no block is touched to hook on the next, and
-- no index has an entry per link. `head_at` is how far the first block has been read.
--
-- `site.state` is a number of src/store/site-state.ts: 0 waiting, 1 leased, 2 parked, 3 held, 4 idle. Whether a link
-- waits is a state of its own, because a partial index over the counter would be written for every link that is added.
--
-- A site is also a queue beside one (src/url/side-queue.ts): only that of an origin in trouble is ever parked.
--
-- `rules` has the texts of long rules (src/model/long-rules.ts), each once, however many rows of `robots` name it by its
-- `digest`; their own `rules` are empty then.
--
-- `seen` is a log of fingerprints, one row per transaction; the table in memory is its index.

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

CREATE TABLE journal (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, text TEXT NOT NULL) STRICT;

CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  shard INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  pages INTEGER NOT NULL DEFAULT 0,
  due_at REAL NOT NULL,
  delay_ms REAL NOT NULL DEFAULT 0,
  crawl_delay_ms REAL NOT NULL DEFAULT 0,
  response_ms REAL NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  queue TEXT NOT NULL DEFAULT '',
  head_at INTEGER NOT NULL DEFAULT 0,
  lease INTEGER,
  holder TEXT,
  leased TEXT,
  leased_via TEXT
) STRICT;
CREATE INDEX site_due ON site (shard, due_at) WHERE state = 0;
CREATE INDEX site_leased ON site (holder) WHERE state = 1;
CREATE INDEX site_aside ON site (state) WHERE state IN (2, 3);

CREATE TABLE pack (id INTEGER PRIMARY KEY, blocks TEXT NOT NULL) STRICT;
CREATE TABLE block (id INTEGER PRIMARY KEY, read_to INTEGER NOT NULL, via TEXT NOT NULL, links TEXT NOT NULL) STRICT;

CREATE TABLE robots (
  origin TEXT PRIMARY KEY, fetched_at REAL NOT NULL, expires_at REAL NOT NULL,
  verdict TEXT NOT NULL, rules TEXT NOT NULL, digest TEXT, crawl_delay_ms REAL, failures INTEGER NOT NULL
) STRICT;
CREATE TABLE rules (digest TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE seen (id INTEGER PRIMARY KEY, fingerprints BLOB NOT NULL) STRICT;
