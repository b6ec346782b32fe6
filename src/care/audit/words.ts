/** Times as the audit writes them. */

/** UTC, to the millisecond. */
export const timeOf = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');

/** To the millisecond, because a violation may be of one. */
export const exactly = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(3)} s`);
