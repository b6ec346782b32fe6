/**
 * What only Redis itself can see to be wrong: sets that disagree with sites, keys that nothing accounts for, known URLs
 * and rules where nobody looks, rows of pages that nobody finds.
 *
 * Memory: 24 bytes per site, the names of its keys.
 */

import { StoreFault } from '../../contract/fault.ts';
import type { Found } from '../../contract/walk.ts';
import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import { plural, writeCount } from '../../lib/units.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { urlKey } from '../page-row.ts';
import { siteStateOf } from '../site-state.ts';
import { fatal, isCorrupt } from '../sqlite/self.ts';
import type { Connection } from './connection.ts';
import { readLease } from './queue.ts';
import { originShard, readRecord, recordsIn } from './read-robots.ts';
import { reading } from './wire.ts';

const SITES_AT_ONCE = 500;
/** Small sets of known URLs, each of up to 360 fingerprints. */
const SETS_AT_ONCE = 30;

type Wrong = Extract<Found, { kind: 'wrong' }>;
type Sentences = AsyncGenerator<string, void, undefined>;

/** What the shards have in common while they are looked at. */
interface Looked {
  /** Names of keys that sites account for. */
  readonly keys: FingerprintTable;
  /** How many small sets of known URLs each shard has. */
  readonly sets: number[];
}

export async function* walkSelf(connection: Connection, shards: number): AsyncGenerator<Wrong, void, undefined> {
  try {
    for await (const says of pagesWrong(connection, shards)) yield { kind: 'wrong', says };
  } catch (error) {
    return yield damageOf(error);
  }
  for await (const says of keysWrong(connection, shards)) yield { kind: 'wrong', says };
  for await (const says of connection.queue.wrong(shards)) yield { kind: 'wrong', says };
}

/** What is said of a table with damaged content; any other fault is thrown again. */
export const damageOf = (error: unknown): Wrong => {
  const { message, cause } = error as StoreFault;
  const isDamage = cause instanceof SyntaxError || (cause !== undefined && isCorrupt(cause));
  if (!(error instanceof StoreFault) || !isDamage) throw error;
  return fatal(`the rows of this member's pages cannot be read: ${message}`);
};

/** `2 known URLs`. */

async function* keysWrong(connection: Connection, shards: number): Sentences {
  const looked: Looked = { keys: createFingerprintTable(), sets: [] };
  for (let shard = 0; shard < shards; shard++) {
    yield* sitesWrong(connection, shard, looked);
    yield* setsWrong(connection, shard, looked);
    for await (const records of recordsIn(connection, shard))
      for (const [origin, text] of records)
        if (readRecord(origin, text) && originShard(origin, shards) !== shard)
          yield `the robots rules of ${origin} are in shard ${shard}, where nobody looks`;
  }
  yield* strayKeys(connection, shards, looked);
}

/** As `indexes` gives it. */
type IndexRow = readonly [
  site: string,
  state: string,
  dueAt: string,
  lease: string,
  due: string,
  leaseEnds: string,
  parked: number,
  held: number,
];

/** A site is among the due, leased, parked or held ones exactly when it says so itself. */
async function* sitesWrong({ wire, keys }: Connection, shard: number, looked: Looked): Sentences {
  const inSets = { due: 0, lease: 0, leased: 0, parked: 0, held: 0 };
  const tag = keys.tag(shard);
  for (let from = 0; ; from += SITES_AT_ONCE) {
    const [rows] = (await wire.all([{ name: 'indexes', shard, args: [from, SITES_AT_ONCE] }])) as [IndexRow[]];
    for (const row of rows) {
      const [site, state, , lease, due, leaseEnds, parked, held] = row;
      if (!looked.keys.add(fingerprint(`${tag}site:${site}`))) yield `the site ${site} is on the list of sites twice`;
      else if (state === '') yield `the site ${site} is on the list of sites, but nothing is known of it`;
      else {
        looked.keys.add(fingerprint(`${tag}queue:${site}`));
        inSets.due += Number(due !== '');
        inSets.lease += Number(leaseEnds !== '');
        inSets.leased += Number(lease !== '');
        inSets.parked += parked;
        inSets.held += held;
        yield* siteWrong(row);
      }
    }
    if (rows.length < SITES_AT_ONCE) break;
  }
  const sizes = (await wire.read(
    shard,
    ['ZCARD', 'due'],
    ['ZCARD', 'lease'],
    ['HLEN', 'leased'],
    ['SCARD', 'parked'],
    ['SCARD', 'held'],
  )) as number[];
  for (const [i, [name, are]] of Object.entries(inSets).entries())
    if (sizes[i] !== are)
      yield `shard ${shard} has ${plural(sizes[i]!, 'site')} in "${name}", but ${writeCount(are)} belong there`;
}

function* siteWrong([site, stateText, dueAt, lease, due, leaseEnds, parked, held]: IndexRow) {
  const state = siteStateOf(Number(stateText));
  const isDue = due !== '';
  if (isDue !== (state === 'waiting'))
    yield isDue
      ? `the site ${site} is among those that are visited, but does not wait`
      : `the site ${site} waits, but is not among those that are visited`;
  else if (isDue && Number(due) !== Number(dueAt)) yield `the site ${site} is visited at another moment than it says`;
  for (const [name, isIn] of [['parked', parked === 1] as const, ['held', held === 1] as const])
    if (isIn !== (state === name))
      yield isIn
        ? `the site ${site} is among the ${name} ones, but is not ${name}`
        : `the site ${site} is ${name}, but not among the ${name} ones`;
  if ((lease !== '') !== (leaseEnds !== ''))
    yield `the lease of the site ${site} ${lease === '' ? 'has an end, but no link' : 'never ends: nobody looks for it'}`;
  const written = readLease(lease, site);
  if (!written || leaseEnds === '') return;
  if (written.ends === '-' ? leaseEnds !== 'inf' : Number(written.ends) !== Number(leaseEnds))
    yield `the lease of the site ${site} ends at another moment than it says`;
}

/** The small sets of known URLs of a shard, some at a time. */
export async function* setsIn({ wire }: Connection, shard: number) {
  const [text] = (await wire.read(shard, ['HGET', 'count', 'buckets'])) as [string | null];
  const sets = Number(text ?? 1);
  for (let from = 0; from < sets; from += SETS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(SETS_AT_ONCE, sets - from) }, (_, i) => from + i);
    const all = (await wire.read(shard, ...numbers.map((n) => ['SMEMBERS', `seen:${n}`] as const))) as string[][];
    for (const [i, prints] of all.entries()) yield { prints, number: from + i, sets };
  }
}

export const isPrint = (text: string): boolean => /^-?\d+$/.test(text);

/** Is each fingerprint in the small set where it is looked for, and are all counted? */
async function* setsWrong(connection: Connection, shard: number, looked: Looked): Sentences {
  let [known, misplaced] = [0, 0];
  for await (const { prints, number, sets } of setsIn(connection, shard)) {
    looked.sets[shard] = sets;
    known += prints.length;
    misplaced += prints.filter((print) => setOf(print, sets) !== number).length;
  }
  if (misplaced > 0) yield `shard ${shard} has ${plural(misplaced, 'known URL')} in the wrong set, where nobody looks`;
  const [said] = (await connection.wire.read(shard, ['HGET', 'count', 'seen'])) as [string | null];
  if (known !== Number(said))
    yield `shard ${shard} counts ${plural(Number(said), 'known URL')}, but has ${writeCount(known)}`;
}

/** As steps decide it: by the last nine digits. A short negative number keeps its sign there, and is counted around. */
const setOf = (print: string, sets: number): number => {
  const part = Number(print.slice(-9));
  const level = 2 ** Math.floor(Math.log2(sets));
  const within = (n: number): number => ((part % n) + n) % n;
  return within(2 * level) < sets ? within(2 * level) : within(level);
};

/** Keys of a shard that are there once. */
const SINGLE = /^(?:count|due|lease|leased|parked|held|robots|rules|batch|back|sites|files|gone:.+)$/;

/** Is there a key that no site and no counter accounts for? A scan may name it twice. */
async function* strayKeys({ allKeys }: Connection, shards: number, looked: Looked): Sentences {
  for await (const names of allKeys()) {
    for (const key of names) {
      const [, shardText, name = ''] = /^\{[^:}]*:(\d+)\}:([^]*)$/.exec(key) ?? [];
      if (shardText === undefined) continue; // it is of the whole crawl
      const shard = Number(shardText);
      const isSet = Number(/^seen:(\d+)$/.exec(name)?.[1]) < (looked.sets[shard] ?? 0);
      const isOurs = shard < shards && (isSet || SINGLE.test(name));
      if (!isOurs && !looked.keys.has(fingerprint(key))) yield strayOf(name, key);
    }
  }
}

const strayOf = (name: string, key: string): string => {
  const [, kind, site] = /^(queue|site):([^]+)$/.exec(name) ?? [];
  if (kind === 'queue') return `links of the site ${site} wait, but no site has them`;
  if (kind === 'site') return `the site ${site} is not on the list of sites`;
  return `nothing accounts for the key ${key}`;
};

/** Rows that nobody finds: by their key, or because nothing is known of their site. */
async function* pagesWrong({ wire, pages }: Connection, shards: number): Sentences {
  pages.read((sql) => {
    const { quick_check: says } = sql('PRAGMA quick_check(1)').get()!;
    if (says !== 'ok') throw new SyntaxError(String(says));
  });
  for (let row = 0; ; ) {
    const keys = 'SELECT id, url, url_key FROM page WHERE id > ? ORDER BY id LIMIT 1000';
    const rows = (pages.read((sql) => sql(keys, 'arrays').all(row)) ?? []) as unknown as [number, string, number][];
    for (const [, url, key] of rows)
      if (urlKey(url) !== key) yield `the page ${url} is not right: its row has the key of another URL`;
    if (rows.length === 0) break;
    row = rows.at(-1)![0];
  }
  for (let last = ''; ; ) {
    const next = 'SELECT DISTINCT site FROM page WHERE site > ? ORDER BY site LIMIT 1000';
    const sites = (pages.read((sql) => sql(next).all(last)) ?? []).map(({ site }) => site as string);
    if (sites.length === 0) return;
    const byShard = Map.groupBy(sites, (site) => shardOf(site, shards));
    const steps = [...byShard].map(([shard, names]) =>
      reading(
        shard,
        names.map((name) => ['EXISTS', `site:${name}`]),
      ),
    );
    const known = ((await wire.all(steps)) as number[][]).flat();
    for (const [i, site] of [...byShard.values()].flat().entries())
      if (known[i] !== 1) yield `there are pages of the site ${site}, but nothing is known of it`;
    last = sites.at(-1)!;
  }
}
