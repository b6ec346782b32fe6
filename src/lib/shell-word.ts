/** A word of a command that a person may copy into a shell. */

/** Characters that no shell takes for more than themselves. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** The word as it is typed: an address from the web may hold `;` or `$(…)`, which a shell would run. */
export const shellWord = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
