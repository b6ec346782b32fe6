/** Damage that tests plant into a crawl in Redis, past all code of the store. */

import { DatabaseSync } from 'node:sqlite';
import { writeFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { PAGE_FIELDS } from '../../src/store/page-row.ts';
import { SITE_STATE } from '../../src/store/site-state.ts';
import { writeWaiting } from '../../src/store/waiting-text.ts';
import { fingerprint } from '../../src/url/fingerprint.ts';
import { siteOf } from '../../src/url/site.ts';
import { link } from '../contract/store-scene.ts';
import type { Tamper } from '../contract/stored-crawl.ts';
import { keyOf, rowsPathOf, type RedisPlace } from './redis-scene.ts';

const siteIn = (url: string): string => siteOf(new URL(url).hostname);
const printOf = (url: string): string => String(BigInt.asIntN(64, fingerprint(url)));

/** A link as an element of a queue: of depth 0, found nowhere, never tried. */
export const blockOf = (url: string): string =>
  `\n${writeWaiting({ link: link(url.slice('https://'.length)), tries: 0 })}\n`;

const inRows = ({ folder }: RedisPlace, sql: string, ...values: (string | number)[]): void => {
  const db = new DatabaseSync(rowsPathOf(folder));
  db.prepare(sql).run(...values);
  db.close();
};

/** What the counters of the census are called in a shard; one of any shard will do. */
const COUNTERS: Readonly<Record<string, string>> = { 'sites parked': 'sitesParked', 'sites held': 'sitesHeld' };

/** Blocks that are in no queue cannot be: a block is an element of one. */
export const redisTamper = (redis: () => Redis): Omit<Tamper<RedisPlace>, 'addStrayBlock'> => {
  const key = ({ folder }: RedisPlace, site: string, name: string): string => keyOf(folder, site, name);
  const setField = (place: RedisPlace, site: string, field: string, value: number | string): Promise<unknown> =>
    redis().hset(key(place, site, `site:${site}`), field, value);
  const addTo = (place: RedisPlace, counter: string, by: number): Promise<unknown> =>
    redis().hincrby(key(place, 'a.example', 'count'), COUNTERS[counter] ?? counter.replace(' ', ':'), by);
  return {
    setWaiting: (place, site, count) => setField(place, site, 'w', count),
    setPages: (place, site, count) => setField(place, site, 'p', count),
    setState: (place, site, state) => setField(place, site, 's', state === null ? 9 : SITE_STATE[state]),
    setShard: async (place, site, shard) => {
      const other = `{${place.folder.crawl}:${shard}}:`;
      const fields = await redis().hgetall(key(place, site, `site:${site}`));
      await redis().hset(`${other}site:${site}`, fields);
      await redis().rpush(`${other}sites`, site);
      await redis().del(key(place, site, `site:${site}`));
      await redis().lrem(key(place, site, 'sites'), 1, site);
    },
    loseLink: async (place, site, url) => {
      const queue = key(place, site, `queue:${site}`);
      for (const [i, block] of (await redis().lrange(queue, 0, -1)).entries()) {
        const lines = block.split('\n').filter((line) => !line.endsWith(` ${url}`));
        await redis().lset(queue, i, lines.join('\n'));
      }
    },
    addLink: (place, site, url) => redis().rpush(key(place, site, `queue:${site}`), blockOf(url)),
    breakQueue: (place, site) => redis().lset(key(place, site, `queue:${site}`), 0, 'nonsense'),
    loseLease: (place, site) => redis().hdel(key(place, site, 'leased'), site),
    breakLease: (place, site) => redis().hset(key(place, site, 'leased'), site, 'nonsense'),
    forgetUrl: (place, url) => redis().srem(key(place, siteIn(url), 'seen:0'), printOf(url)),
    addUrl: (place, url) => redis().sadd(key(place, siteIn(url), 'seen:0'), printOf(url)),
    repeatUrl: async (place, url) => {
      await redis().hset(key(place, siteIn(url), 'count'), 'buckets', 2);
      for (const set of ['seen:0', 'seen:1']) await redis().sadd(key(place, siteIn(url), set), printOf(url));
    },
    losePage: (place, url) => inRows(place, 'DELETE FROM page WHERE url = ?', url),
    repeatPage: (place, url) =>
      inRows(
        place,
        `INSERT INTO page (site, ${PAGE_FIELDS}, batch, shard, lead)
         SELECT site, ${PAGE_FIELDS}, batch, shard, lead FROM page WHERE url = ?`,
        url,
      ),
    orphanPage: (place, url) => inRows(place, "UPDATE page SET site = 'nowhere.example' WHERE url = ?", url),
    misplacePage: (place, url) => inRows(place, 'UPDATE page SET url_key = 1 WHERE url = ?', url),
    addToPages: addTo,
    addToLinks: addTo,
    addToSites: addTo,
    loseRules: (place, origin) => redis().del(key(place, siteIn(origin), 'rules')),
    breakRobots: (place, origin) => redis().hset(key(place, siteIn(origin), 'robots'), origin, '{'),
    ruin: ({ folder }) => writeFileSync(rowsPathOf(folder), 'this is no database'.repeat(1_000)),
  };
};
