/** Parameters of statements as text that PostgreSQL reads. */

export type Value = string | number | bigint | boolean | null;

/** Numbers and truth values as an array of PostgreSQL; the client's own way quotes each. */
export const arrayOf = (values: readonly (number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

/** PostgreSQL's texts cannot hold the character 0, which a page may well have in its title, nor half a character. */
export const textOf = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

const TO_ESCAPE = /[\\"]/g;

export const textsOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${textOf(text).replace(TO_ESCAPE, '\\$&')}"`).join(',')}}`;

/** How JSON writes what a text cannot hold. */
const UNFIT = /\\u(?:0000|d)/;

export const jsonOf = (value: unknown): string => {
  const json = JSON.stringify(value);
  if (!UNFIT.test(json)) return json;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? textOf(part) : part));
};
