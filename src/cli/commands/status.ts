/** `gossamer status`: how far a crawl is, while it runs and after. */

import { lockOwner } from '../../folder/lock.ts';
import { writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { EMBEDDED } from '../../store/address.ts';
import type { Command } from '../command.ts';
import { printObject } from '../listing.ts';
import { censusObject } from '../progress.ts';
import { censusLines } from '../summary.ts';
import { bold, fitLine } from '../terminal.ts';
import { crawlDirOf, withCrawl } from './dir.ts';

export const statusCommand: Command = {
  name: 'status',
  usage: 'status <dir> [--json]',
  says: 'Show how far a crawl is: how many links are waiting, leased, settled (by outcome), parked and held.',
  flags: [{ name: 'json', says: 'print one JSON object' }],
  example: 'gossamer status ./crawl',
  run: async (read) => {
    const dir = crawlDirOf(read);
    return withCrawl(dir, async (crawl, identity) => {
      const owner = lockOwner(dir);
      const census = await crawl.census();
      const { store = EMBEDDED, name } = identity.settings;
      if (read.switches.has('json')) {
        await printObject({
          dir,
          id: identity.id,
          createdAt: identity.createdAt,
          store,
          name,
          shards: identity.fixed.shards,
          process: owner || null,
          ...censusObject(census),
        });
        return 0;
      }
      console.log(
        fitLine(
          `${bold(`Crawl ${dir}`)} ${owner ? `runs in process ${owner}` : 'is not running'}; created ${visible(identity.createdAt)}`,
        ),
      );
      if (store !== EMBEDDED) console.log(fitLine(visible(`  in ${store} as "${name}"`)));
      console.log(censusLines(dir, census).join('\n'));
      if (!owner && census.leased > 0) console.log('  leased links were under way when it ended; a resume frees them');
      if (census.next)
        console.log(
          `  next visit ${visible(census.next.site)}, ${census.next.dueAt > Date.now() ? `${writeDuration(census.next.dueAt - Date.now())} from now` : 'at once'}`,
        );
      return 0;
    });
  },
};
