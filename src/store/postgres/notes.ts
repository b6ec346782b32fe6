/** What a crawl keeps for those who join it, in the table that also has its layout. */

import { textOf } from './book.ts';
import { prepareLayout } from './layout.ts';
import { rowsOn, type Look } from './look.ts';

/** Before the names of notes, so that they are not mistaken for what the layout says. */
export const NOTE = 'note ';

export const note = async ({ schema, server, layout }: Look, name: string): Promise<string | null> => {
  if ((await layout()) === null) return null;
  return server.once(
    async (client) =>
      (await rowsOn<{ value: string }>(client, `SELECT value FROM ${schema}.meta WHERE name = $1`, [NOTE + name]))[0]
        ?.value ?? null,
  );
};

/** Of two that write it at once, the second waits for the first and finds it written. */
export const keepNote = ({ schema, server, place }: Look, name: string, text: string): Promise<string> =>
  server.once(async (client) => {
    await prepareLayout(client, { crawl: place.crawl, schema, shards: place.shards });
    await client.query(`INSERT INTO ${schema}.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, [
      NOTE + name,
      textOf(text),
    ]);
    return (
      await rowsOn<{ value: string }>(client, `SELECT value FROM ${schema}.meta WHERE name = $1`, [NOTE + name])
    )[0]!.value;
  });

export const notes = async ({ schema, rows }: Look): Promise<Record<string, string>> => {
  const kept = await rows<{ name: string; value: string }>(
    `SELECT substr(name, ${NOTE.length + 1}) AS name, value FROM ${schema}.meta WHERE starts_with(name, $1) ORDER BY name`,
    [NOTE],
  );
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
};
