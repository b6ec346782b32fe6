/** Where a crawl is moved to: filled from pieces, and worth nothing until it is whole. */

import { StoreFault } from '../../contract/fault.ts';
import type { FilledMember, Filling, StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Piece } from '../../contract/walk.ts';
import type { Census } from '../../model/census.ts';
import { UsageError } from '../../model/read-settings.ts';
import { withoutPassword } from '../../store/address.ts';
import { openStoredCrawl, removalOf } from '../../store/open.ts';
import type { LookOptions } from '../../store/options.ts';
import type { Identity } from '../../folder/folder.ts';
import { IDENTITY_NOTE, MOVED_NOTE } from '../../folder/notes.ts';
import { aheadOf } from './ahead.ts';

/** In the target: what its source had counted of changes when it was copied. */
export const COPIED_NOTE = 'copied';

export interface Target {
  /**
   * True when the whole copy is there already: the run that made it was killed before the directory knew of it. Throws
   * a UsageError when another crawl is there.
   */
  begin(copied: string): Promise<boolean>;
  /** How far its clock is ahead of this machine's, rather too much than too little; known once the move has begun. */
  aheadMs(): Promise<number>;
  take(pieces: readonly Piece[]): Promise<void>;
  end(): Promise<void>;
  /** Once it is whole. */
  census(): Promise<Census>;
  close(): Promise<void>;
}

export interface TargetOptions {
  readonly to: LookOptions;
  readonly identity: Identity;
  /** All whose pages come, where there are several. */
  readonly members?: readonly FilledMember[];
}

export const openTarget = async ({ to, identity, members }: TargetOptions): Promise<Target> => {
  const crawl = await openStoredCrawl({ ...to, isFresh: true });
  let filling: Filling | null = null;
  const begun = (): Filling => {
    if (!filling) throw new StoreFault('the move was not begun', 'run it again');
    return filling;
  };
  return {
    begin: async (copied) => {
      try {
        filling = await crawl.fill(members);
        return false;
      } catch (error) {
        await judge(crawl, { to, identity, copied, error });
        return true;
      }
    },
    aheadMs: async () => (await aheadOf(crawl, to.url)).mostMs,
    take: (pieces) => begun().take(pieces),
    end: async () => {
      await begun().end();
      filling = null;
    },
    census: () => crawl.census(),
    close: async () => {
      await filling?.close();
      await crawl.close();
    },
  };
};

interface Judged extends TargetOptions {
  readonly copied: string;
  readonly error: unknown;
}

/** Something is there: whole, ours and not older than the crawl is now, or the move cannot begin. */
const judge = async (crawl: StoredCrawl, { to, identity, copied, error }: Judged): Promise<void> => {
  if (!(error instanceof StoreFault)) throw error;
  const note = await crawl.note(IDENTITY_NOTE);
  if (note === null) throw error;
  const where = `${withoutPassword(to.url)} has a crawl "${to.crawl}" already`;
  if ((JSON.parse(note) as Identity).id !== identity.id)
    throw new UsageError(`${where}, another one: choose another --name`);
  if ((await crawl.note(MOVED_NOTE)) !== null)
    throw new UsageError(
      `${where}: this one, as it was before it was moved away from there; choose another --name, or remove the old one there: ${await removalOf(to.url, to.crawl)}`,
    );
  if ((await crawl.note(COPIED_NOTE)) !== copied)
    throw new UsageError(`${where}: a copy of this one from before it went on here; choose another --name`);
};
