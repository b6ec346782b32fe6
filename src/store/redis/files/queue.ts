/** Queues whose links lie in files of this machine. */

import { FRONTIER_DIR, pathOf } from '../../files.ts';
import type { StorePlace } from '../../options.ts';
import type { QueueParts } from '../queue.ts';
import type { Claim, Grown, OpenClaim, QueuePlace } from '../queue.ts';
import { reading } from '../wire.ts';
import { createFilesAdmit } from './admit.ts';
import { startCompaction } from './compaction.ts';
import { FILES_LIMITS, type FilesLimits } from './limits.ts';
import { linkIn } from './reader.ts';
import { openFiles, type FilesSession } from './session.ts';

export const openFilesQueue = async (
  { wire, hints, shards }: QueueParts,
  { dir }: StorePlace,
  changes: Partial<FilesLimits>,
): Promise<QueuePlace> => {
  const limits = { ...FILES_LIMITS, ...changes };
  const session = await openFiles({ wire, shards, folder: pathOf({ dir }, FRONTIER_DIR), limits });
  const compaction = startCompaction(session);
  const notice = (shard: number, grown: readonly Grown[]): void =>
    compaction.notice(
      shard,
      grown.flatMap(([site, references, links]) =>
        references > limits.referencesMax + (4 * links) / limits.blockLinksMax ? [site] : [],
      ),
    );
  return {
    link: (taken) => linkIn(session.files, taken),
    admit: createFilesAdmit({ session, hints, room: compaction.room, notice }),
    open: (claims) => openClaims(session, claims),
    notice,
    close: async () => {
      await compaction.close();
      session.writer.close();
      session.files.close();
    },
  };
};

/** Only the files tell the origins of links, so the rules are asked for afterwards. */
const openClaims = async ({ wire, files }: FilesSession, claims: readonly Claim[]): Promise<OpenClaim[][]> => {
  const links = claims.map(({ taken }) => taken.map((one) => linkIn(files, one)));
  const some = claims.flatMap(({ shard }, i) => (links[i]!.length > 0 ? [{ shard, of: links[i]! }] : []));
  const answers = (await wire.all(
    some.map(({ shard, of }) =>
      reading(shard, [['HMGET', 'robots', ...of.map(({ link }) => new URL(link.url).origin)]]),
    ),
  )) as [(string | null)[]][];
  const rules = new Map(some.map(({ of }, n) => [of, answers[n]![0]]));
  return links.map((of) => of.map((one, n) => ({ ...one, rules: rules.get(of)![n] ?? '' })));
};
