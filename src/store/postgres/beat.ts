/** This member lives: tells the store so, and puts right what went wrong between the two. */

import type { Beat } from '../../contract/journal.ts';
import { DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../../model/pulse.ts';
import { beatOf } from './claim.ts';
import { putRight } from './put-right.ts';
import { lapse, type BeatRow, type Session } from './session.ts';

export const beat = async (session: Session): Promise<Beat> => {
  const row = await sendBeat(session);
  for (const dead of row.dead ?? []) {
    session.say(`member "${dead}" has not been heard for ${DEAD_AFTER_MS / 1_000} s; its sites go to others`);
    await session.call('bury', [dead, DEAD_AFTER_MS, session.at()]);
    session.dueHints.forget(null);
  }
  if (row.overdue) session.dueHints.forget(null); // a claim frees it, though nothing seems to be due
  // What is left of earlier terms must have ended: a visit that is still under way would overlap with the next one.
  if (session.trouble !== null && session.book.isQuiet()) {
    const isReady = await putRight(session, row);
    if (isReady && session.trouble !== null) await sendBeat(session); // whoever is ready last opens the crawl
  }
  return beatOf(session);
};

const sendBeat = async (session: Session): Promise<BeatRow> => {
  const { member, run, about, beats, batch, ready, at } = session;
  const sentAt = session.elapsed();
  const noticed = session.trouble === 'back';
  const values = [member, run, about, beats, batch, noticed, ready, DEAD_AFTER_MS, at()];
  const [row] = await session.call<BeatRow>('beat', values);
  const { entry, back, present, shut } = row!;
  session.entry = entry;
  session.beats = row!.beats;
  if (noticed) {
    if (shut === null && session.ready !== '' && present === session.serverName) session.trouble = null;
  } else if (back || shut !== null || present !== session.serverName) lapse(session, 'back');
  // Its visits were broken off, whatever the store still says of their leases.
  else if (session.elapsed() - session.heardAt > LAPSED_AFTER_MS) lapse(session, 'unheard');
  session.heardAt = sentAt;
  // Others work, or nobody: a member with nothing to do asks for nothing more.
  const changes = row!.changes ?? 0;
  if (changes === session.changes) session.dueHints.confirm(session.roughly());
  else session.dueHints.forget(null);
  session.changes = changes;
  return row!;
};
