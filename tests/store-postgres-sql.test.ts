/** The SQL of the store in PostgreSQL, file by file. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { SITE_SORTS } from '../src/contract/views.ts';
import { fillIn, functionName, sqlFile } from '../src/store/postgres/sql.ts';
import { link } from './contract/store-scene.ts';
import { sitesIn } from './contract/stored-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { withScene } from './support/postgres-scene.ts';

const FILES = readdirSync(new URL('../src/store/postgres/sql/', import.meta.url)).map((file) =>
  file.replace('.sql', ''),
);
/** Columns that two statements share, and a statement that is made for each order. */
const PARTS = ['site-view', 'sites-sorted'];

test('postgres: every file of SQL says first what it is for, and keeps to the width', () => {
  for (const name of FILES) {
    assert.match(sqlFile(name), /^-- [A-Z]/, name);
    assert.deepEqual(
      sqlFile(name)
        .split('\n')
        .filter((line) => line.length > 120),
      [],
      name,
    );
  }
});

test('postgres: every statement says what its parameters are, and is one that the server takes', async () => {
  const server = await startPostgres();
  try {
    await withScene(server, async ({ member, crawl, query }) => {
      const { store } = await member('a');
      const isMade = (text: string): boolean => /^CREATE /m.test(text);
      const statements = FILES.filter((name) => !PARTS.includes(name) && !isMade(sqlFile(name)));
      assert.ok(statements.length >= 8, statements.join(', '));
      for (const name of statements) {
        const text = sqlFile(name);
        const header = text.slice(0, text.search(/^[^-]/m));
        for (const [parameter] of text.matchAll(/\$\d/g))
          assert.ok(header.includes(parameter), `${name}: ${parameter}`);
        assert.match(header, /Result: /, name);
        await query(`PREPARE made AS ${fillIn(text, 'gossamer_here')}`);
      }
      await store.admit([link('x.example/')]);
      for (const sort of Object.keys(SITE_SORTS) as (keyof typeof SITE_SORTS)[])
        assert.equal((await sitesIn(await crawl(), { sort })).length, 1);
      // Those of functions are made with the crawl; each statement in them is checked when it is first run.
      const functions = await query(
        "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'gossamer_here'::regnamespace",
      );
      const made = FILES.flatMap((name) =>
        [...sqlFile(name).matchAll(/^CREATE FUNCTION @crawl\.(\w+)/gm)].map(([, of]) => functionName(of!)),
      );
      assert.deepEqual(functions.map(({ name }) => name).toSorted(), made.toSorted());
    });
  } finally {
    await server.remove();
  }
});
