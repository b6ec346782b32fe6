/** Rows for spreadsheets and for programs that read CSV. */

/**
 * A cell of CSV, quoted where it must be (RFC 4180); one that a spreadsheet would run as a formula is made plain text.
 */
export const cell = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
