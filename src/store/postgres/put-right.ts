/** What a member does when its leases are void: the store went back in time, or did not hear it for too long. */

import { StoreFault } from '../../contract/fault.ts';
import { plural } from '../../lib/units.ts';
import { readmit } from './admit.ts';
import { bytesOf, joinRecords, type LoggedBatch } from './batch-log.ts';
import type { BeatRow, Session } from './session.ts';

/** The visits of earlier terms have ended. Whether something was done. */
export const putRight = async (session: Session, row: BeatRow): Promise<boolean> => {
  if (session.trouble === 'unheard') {
    await startAnew(session, []);
    session.trouble = null;
    return true;
  }
  if (row.shut !== null && session.ready === row.shut) return false; // it waits for the others
  // One that was refused has no records any more.
  const forgotten = forgottenAfter(session, row.batch).filter(({ records }) => records.length > 0);
  // Listed before the end is moved: whoever dies in between lists them again.
  if (forgotten.length > 0) session.dead(joinRecords(forgotten.flatMap(({ records }) => records)), 'forgotten');
  await startAnew(session, forgotten);
  await readmit(session);
  session.serverName = row.present;
  session.ready = row.shut ?? '';
  if (row.shut === null) session.trouble = null;
  const cost = forgotten.length > 0 ? `, ${plural(forgotten.length, 'batch', 'batches')} of settlements` : '';
  session.say(`PostgreSQL was restarted, or another server took over; what it forgot${cost} is fetched again`);
  return true;
};

/** Batches that are in the archive and not in the store. */
export const forgottenAfter = ({ log }: Pick<Session, 'log'>, batch: number): readonly LoggedBatch[] => {
  const forgotten = log.after(batch);
  if (forgotten) return forgotten;
  throw new StoreFault(
    'the database was set back further than this directory remembers',
    'restore it to a later moment, or start a new crawl',
  );
};

/** Frees what is leased under earlier names, and moves the end of the archive to where the files end. */
const startAnew = async (session: Session, forgotten: readonly LoggedBatch[]): Promise<void> => {
  const { member, run, book, batch, archive, at } = session;
  const { file, bytes } = archive.end();
  const isMoved = forgotten.length > 0;
  const end = isMoved ? [file, bytes, bytesOf(forgotten)] : [null, null, null];
  await session.call('start_anew', [member, run, book.run(), batch, ...end, at()]);
  session.dueHints.forget(null);
};
