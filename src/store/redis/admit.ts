/** Takes in links that were never seen: one step per shard. */

import type { Admitted } from '../../frontier/store.ts';
import type { Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { byShard, learn, type Book } from './book.ts';
import { writeWaiting } from '../link-text.ts';
import type { Call } from './wire.ts';

/** May be repeated: what is seen is not taken again, though it is then counted as seen. */
export const admit = async (book: Book, links: readonly Link[], siteWaitingMax: number | null): Promise<Admitted> => {
  const calls = [...byShard(book, links)].map(
    ([shard, some]): Call => ({ name: 'admit', shard, args: [siteWaitingMax ?? '', ...runs(some)] }),
  );
  const answers = (await book.wire.all(calls)) as [string, string, string, number, number, number, string[]][];
  let [admitted, seen, forgotten] = [0, 0, 0];
  const full: string[] = [];
  answers.forEach((answer, i) => {
    learn(book, calls[i]!.shard, answer);
    admitted += answer[3];
    seen += answer[4];
    forgotten += answer[5];
    full.push(...answer[6]);
  });
  return { admitted, seen, forgotten, full };
};

/** The links of a shard: those of a site together, cut where the page that they were found on changes. */
const runs = (links: readonly Link[]): string[] => {
  const bySite = new Map<string, { via: string; text: string }[]>();
  for (const link of links) {
    let site = bySite.get(link.site);
    if (!site) bySite.set(link.site, (site = []));
    const last = site.at(-1);
    const text = `${BigInt.asIntN(64, fingerprint(link.url))} ${link.first ? 1 : 0} ${writeWaiting(link, 0)}\n`;
    if (last?.via === link.via) last.text += text;
    else site.push({ via: link.via, text });
  }
  return [...bySite].flatMap(([site, some]) => some.flatMap(({ via, text }) => [site, via, text]));
};
