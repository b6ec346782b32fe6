/** The SQL of the store: files beside this one, and the names after an `@` that are put into them. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CLAIMS_MAX } from '../../contract/store.ts';
import { SITES_DUE_COUNTED_MAX } from '../../model/census.ts';
import { SITE_STATE } from '../site-state.ts';
import { PAGE_SQL } from './pages.ts';
import { fenceKey, lockKey, MOVING, NOTE } from './schema.ts';

/**
 * The plan of each statement is made once per connection and does not depend on statistics: rows are found by index,
 * one by one, however many there are. Plans that were made when a table was empty would otherwise be kept until it is
 * analysed. Functions that only others call take over their settings.
 */
const SETTINGS = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`;

/** Dead rows are taken away after so many, whatever the size of the table, without pausing: else tables grow. */
const VACUUM = `autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5`;

/** Blocks that are looked through for a link: about 10 M links and some seconds. */
const BLOCKS_MAX = 200_000;

const FIXED = {
  ...SITE_STATE,
  ...PAGE_SQL,
  settings: SETTINGS,
  vacuum: VACUUM,
  claims_max: CLAIMS_MAX,
  due_max: SITES_DUE_COUNTED_MAX,
  blocks_max: BLOCKS_MAX,
  note: NOTE,
  moving: MOVING,
};

/** The files that make functions, in an order in which each finds what it needs. */
const FUNCTION_FILES = `waiting-text records queue moment journal fence tell reign put-first free free-held enter
  beat bury start-anew keep-pages keep-robots rules-of bring-back steer admit claim move-links settle census check-move fill
  make-whole take-back`.split(/\s+/);

const files = new Map<string, string>();

/** The text of a file in `sql/`, by its name without the ending. */
export const sqlFile = (name: string): string => {
  let text = files.get(name);
  if (text === undefined)
    files.set(name, (text = readFileSync(new URL(`./sql/${name}.sql`, import.meta.url), 'utf8').trim()));
  return text;
};

const functionTexts = FUNCTION_FILES.map(sqlFile).join('\n');

/**
 * What the names of all functions end with: it comes from their text, so that nobody can forget to raise it. Functions
 * of another version of this program lie beside ours, and are never replaced while its members run.
 */
const VERSION = createHash('sha256')
  .update(functionTexts + JSON.stringify(FIXED))
  .digest('hex')
  .slice(0, 8);

const FUNCTIONS = new Set([...functionTexts.matchAll(/^CREATE FUNCTION @crawl\.(\w+)\(/gm)].map(([, name]) => name!));

/** The name in the database of a function of this version. */
export const functionName = (name: string): string => {
  if (!FUNCTIONS.has(name)) throw new Error(`SQL has no function ${name}`);
  return `${name}_${VERSION}`;
};

/** All functions of this version as the schema of the crawl has them. */
export const makeFunctions = (schema: string): string => fillIn(functionTexts, schema);

/** Puts in what stands for the names after an `@`, and the versions of functions. */
export const fillIn = (text: string, schema: string): string => {
  const names: Readonly<Record<string, string | number | bigint>> = {
    ...FIXED,
    crawl: schema,
    pages_lock: lockKey(schema, 'pages'),
    fence: fenceKey(schema),
    // as pg_locks shows it
    fence_shown: fenceKey(schema) >>> 0,
  };
  const versioned = text.replace(/(?<=@crawl\.)\w+(?=\()/g, functionName);
  return versioned.replace(/@(\w+)/g, (_, name: string) => {
    if (name === 'site_view') return fillIn(sqlFile('site-view'), schema);
    if (!(name in names)) throw new Error(`SQL has the unknown name @${name}`);
    return String(names[name]);
  });
};
