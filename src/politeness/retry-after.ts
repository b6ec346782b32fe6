/** How long does a Retry-After ask us to wait? */

const SECONDS = /^(\d+(?:\.\d+)?)\s*(?:,|$)/; // a repeated field is joined with commas: its first value counts
/** RFC 9110, 5.6.7: a date begins with the name of a day, in all three of its forms. */
const DATE = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s/i;
const ZONE = /(?:gmt|utc|[+-]\d{4})$/i;

/** Milliseconds from now, not yet cut to a ceiling; null when it says nothing that can be read. */
export const readRetryAfterMs = (value: string, nowMs: number): number | null => {
  const text = value.trim();
  const seconds = SECONDS.exec(text)?.[1];
  if (seconds !== undefined) return Math.min(Math.ceil(Number(seconds) * 1_000), Number.MAX_SAFE_INTEGER);
  if (!DATE.test(text)) return null;
  // The oldest form (asctime) carries no zone and means GMT; without one it would be read as local time.
  const at = Date.parse(ZONE.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil(at - nowMs));
};
