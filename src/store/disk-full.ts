/** Whether a disk that is full is what a store or an archive failed of. */

/** What SQLite says of a full disk: SQLITE_FULL. */
const SQLITE_FULL = 13;

export const isDiskFull = (error: unknown): boolean => {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { errcode, code } = at as { errcode?: number; code?: string };
    if (errcode === SQLITE_FULL || code === 'ENOSPC' || code === 'EDQUOT') return true;
  }
  return false;
};
