/** Where is a link: in the queue of its site, under visit, settled, or unknown? */

import { linkView } from '../../contract/link-view.ts';
import type { LinkView, OpenLink } from '../../contract/views.ts';
import { shardOf } from '../../url/shard.ts';
import type { Connection } from './connection.ts';
import { printOf } from './run-line.ts';
import { orNull, readLease } from './queue.ts';
import { readView, toView, type ViewText } from './read-sites.ts';

/** About 10 M links and some seconds. A queue can be longer only without --max-waiting-per-site. */
const ELEMENTS_MAX = 200_000;
/** About 50,000 links in 4 MB: most queues are looked at in one step. */
const ELEMENTS_PER_STEP = 2_000;

type FindAnswer = readonly [view: ViewText, known: number, elements: readonly string[]];

export const linkOf = async (connection: Connection, url: string, site: string): Promise<LinkView> => {
  const { wire, queue, pages } = connection;
  const page = pages.page(url, site);
  const shard = shardOf(site, await connection.shards());
  let [lookedAt, isSure] = [0, true];
  let before = '';
  for (let from = 0; ; ) {
    const args = [site, printOf(url), from, page ? 0 : ELEMENTS_PER_STEP];
    const [[view, known, elements]] = (await wire.all([{ name: 'find', shard, args }])) as [FindAnswer];
    const row = readView(view);
    before ||= JSON.stringify(view);
    let found: OpenLink | null = null;
    for (const text of elements) {
      const links = orNull(() => queue.links({ site, text, headAt: from === 0 ? row!.headAt : 0 }));
      const at = links?.findIndex(({ link }) => link.url === url) ?? -1;
      from++;
      if (at >= 0) found = { ...links![at]!, ahead: lookedAt + at };
      lookedAt += found ? at + 1 : (links?.length ?? 0);
      isSure &&= links !== null; // what is taken meanwhile may be gone from a file
      if (found) break;
    }
    const left = (row?.elements ?? 0) - from;
    if (!found && !page && left > 0 && from < ELEMENTS_MAX) continue;
    const lease = row && readLease(row.lease, site);
    // The whole queue was looked at, and its site is as it was when that began.
    isSure &&= left <= 0 && before === JSON.stringify(view);
    return linkView(url, {
      site: row && toView(connection, row),
      page,
      leased: lease && orNull(() => queue.link(lease.taken)),
      found,
      lookedAt,
      isElsewhere: known === 1 && isSure,
    });
  }
};
