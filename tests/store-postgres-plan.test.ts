/** What a claim costs in PostgreSQL does not grow with the frontier: its plans are read from the server's log. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SITE_STATE } from '../src/store/site-state.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { ALL_SHARDS, ask } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { workOptions } from './support/postgres-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { until } from './support/until.ts';

const SITES = 20_000;
const LINKS_PER_SITE = 50;
/** What two claims make at the least. */
const PLANS_MIN = 6;

/** Every plan that is used is written to the log, those inside functions too. */
const TELL_PLANS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
};

/** Straight into the tables: the plans see rows, and do not ask where they came from. */
const FILL = `
  INSERT INTO gossamer_here.site (id, name, shard, state, due_at, waiting, head, tail)
    SELECT i, 's' || i || '.example', i % ${ALL_SHARDS.length}, ${SITE_STATE.waiting}, 1000 + i * 7919 % ${SITES}, ${LINKS_PER_SITE}, 1, 1 FROM generate_series(1, ${SITES}) i;
  INSERT INTO gossamer_here.block (site, position, via, links)
    SELECT i, 1, '', (SELECT array_agg('1 0 0 0 https://s' || i || '.example/' || n) FROM generate_series(1, ${LINKS_PER_SITE}) n) FROM generate_series(1, ${SITES}) i`;

interface Plan {
  readonly query: string;
  readonly text: string;
}

const plansIn = (log: string): Plan[] =>
  log.split(/^(?=\S)/m).flatMap((entry) => {
    const [, query = '', text = ''] = /plan:\s+Query Text:([^]*?)\n\t(?=\S[^\n]*\(cost=)([^]*)/.exec(entry) ?? [];
    return query === '' ? [] : [{ query, text }];
  });

for (const [title, statistics] of [
  ['after an ANALYZE', 'ANALYZE'],
  ['with statistics from when it was empty', ''],
] as const) {
  test(`postgres: at a million waiting links a claim reads only rows that it takes, by index and without sorting, ${title}`, async () => {
    const server = await startPostgres(TELL_PLANS);
    try {
      const url = await server.database();
      const clock = createManualClock();
      const store = await openPostgresStore(workOptions(url, { archive: openMemoryArchive(), clock }));
      await server.query(url, 'VACUUM ANALYZE gossamer_here.site, gossamer_here.block, gossamer_here.robots');
      await store.claim(ask({ visits: 10 })); // on the empty tables: a plan that is made now may be kept
      await server.query(url, FILL.split(';')[0]!);
      await server.query(url, FILL.split(';')[1]!);
      if (statistics !== '') await server.query(url, statistics);
      clock.advance(2_000); // what was learnt of the empty tables is forgotten
      const from = server.log().length;
      const { visits } = await store.claim(ask({ visits: 100, leaseMs: 60_000 }));
      const rest = await store.claim(
        ask({ visits: 100, shards: [1, 2, 3], leaseMs: 60_000, sitePagesMax: { all: 5 } }),
      );
      await store.close();
      assert.equal(visits.length + rest.visits.length, 200);
      const plansOf = (): Plan[] =>
        plansIn(server.log().slice(from)).filter(
          ({ query }) => /\.(?:site|block)\b/.test(query) && !query.includes('generate_series'),
        );
      await until('the log has arrived', () => plansOf().length >= PLANS_MIN);
      const plans = plansOf();
      assert.ok(
        plans.some(
          ({ query, text }) => query.includes('SKIP LOCKED') && /Index Scan using site_due on site/.test(text),
        ),
        'the plan of the claim is in the log',
      );
      for (const { query, text } of plans) {
        assert.doesNotMatch(text, /Sort|Seq Scan|Bitmap|Rows Removed by (?:Index Recheck|Join)/, `${query}\n${text}`);
        for (const [line, rows] of text.matchAll(/Scan[^\n]*\(actual time=\S+ rows=(\d+) loops=1\)/g))
          assert.ok(Number(rows) <= 500, `${line}\n${query}\n${text}`);
      }
    } finally {
      await server.remove();
    }
  });
}
