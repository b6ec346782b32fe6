/** What a crawl keeps for those who join it, beside what it says of itself. */

import { checkLayout, checkWhole, LAYOUT, readLayout } from './layout.ts';
import type { Look } from './look.ts';

/** Makes nothing. */
export const note = async ({ wire }: Look, name: string): Promise<string | null> => {
  const [text] = (await wire.all([{ name: 'note', shard: 0, args: [name] }])) as [string | null];
  return text;
};

/** One step of the server: of two that write it at once the first wins, and repeated it gives what is there. */
export const keepNote = async (
  { wire, place: { crawl, shards } }: Look,
  name: string,
  text: string,
): Promise<string> => {
  const [[is, kept]] = (await wire.all([{ name: 'keepNote', shard: 0, args: [LAYOUT, shards, name, text] }])) as [
    [(string | null)[], string],
  ];
  const layout = readLayout(is);
  checkLayout(crawl, layout);
  checkWhole(crawl, layout);
  return kept;
};
