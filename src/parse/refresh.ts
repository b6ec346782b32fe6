/** Where a refresh leads, in a meta element or a Refresh field (HTML standard, shared declarative refresh steps). */

/** Everything before the address: a time, a separator, and `url=`, which may be missing. */
const BEFORE_ADDRESS =
  /^[\t\n\f\r ]*[\d.]+(?:[\t\n\f\r ]*[;,]|[\t\n\f\r ])[\t\n\f\r ]*(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?/i;

/** The address as written; empty when a page only refreshes itself, or not at all. */
export const refreshTarget = (value: string): string => {
  const before = BEFORE_ADDRESS.exec(value);
  if (before === null) return '';
  const written = value.slice(before[0].length);
  const quote = written.charAt(0);
  if (quote !== '"' && quote !== "'") return written;
  const end = written.indexOf(quote, 1);
  return end < 0 ? written.slice(1) : written.slice(1, end);
};
