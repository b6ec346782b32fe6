/** Puts a crawl right in the store of its own directory. */

import type { Repaired } from '../../contract/stored-crawl.ts';
import type { Part } from './parts.ts';
import { mendArchive, placesOf, sentencesOf, type Plan, type Told } from './plan.ts';

/** The store first, in one transaction; then the archive. */
export const repairEmbedded = async (
  { crawl, dir }: Part,
  { rows, archives }: Plan,
  onProgress: (linksDone: number) => void,
): Promise<string[]> => {
  const [archive] = archives;
  const { plan, end, archivedBytes, seedLines } = archive!;
  const dead = [...plan.dead, ...(await placesOf(crawl, rows))];
  const pagesBack = new Set([...plan.pagesBack, ...rows.pagesBack]);
  const did = await crawl.repair!(
    { ...rows, pagesBack, urlsBack: plan.urlsBack, archive: end, archivedBytes, seedLines },
    onProgress,
  );
  const [listed, filled] = await mendArchive(crawl, { dir, end, dead });
  return sentencesOf(toldOf(did, listed!, filled!));
};

const toldOf = (did: Repaired, listed: Told, filled: Told): Told[] => [
  [did.pagesBack, 'page waits again', 'pages wait again'],
  [did.urlsBack, 'link of a record without a page waits again', 'links of records without a page wait again'],
  [did.pagesGone, 'row of a page that was settled twice is gone', 'rows of pages that were settled twice are gone'],
  listed,
  filled,
  [did.queuesMended, 'queue of a site was laid anew', 'queues of sites were laid anew'],
  [did.linksAdopted, 'link of a stray block is back in its queue', 'links of stray blocks are back in their queues'],
  [did.printsAdded, 'URL was added to the log of known URLs', 'URLs were added to the log of known URLs'],
  [
    did.printsDropped,
    'URL that was lost is not known any more, so that it can be found again',
    'URLs that were lost are not known any more, so that they can be found again',
  ],
  [did.countersSet, 'counter was set to what the rows say', 'counters were set to what the rows say'],
];
