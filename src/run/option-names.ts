/** Messages name settings by their flags; a caller of the library gave options, and is told their names. */

import { StoreFault } from '../contract/fault.ts';
import { DiskError } from '../folder/ceilings.ts';
import { UsageError } from '../model/read-settings.ts';
import { SETTING_NAMES, SETTINGS } from '../model/setting-table.ts';

/** Flags that are no settings, and the options that say the same. */
const OTHER_FLAGS: Readonly<Record<string, string>> = {
  dir: 'dir',
  url: 'seeds',
  'exclude-file': 'excludeFile',
  'retry-parked': 'retryParked',
};

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(OTHER_FLAGS),
  ...SETTING_NAMES.map((name) => [SETTINGS[name].flag, name] as const),
]);

/** The words of a choice follow its flag (`--keep none`), those of another setting are left as they stand. */
const CHOICES: ReadonlyMap<string, readonly string[]> = new Map(
  SETTING_NAMES.map((name) => [SETTINGS[name].flag, SETTINGS[name].choices ?? []] as const),
);

/** Commands of the binary that a message advises, and the function that does the same. */
const COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/"gossamer crawl <seed-file> --dir [^"]*"/g, 'crawl({ dir, seeds, email })'],
  [/"gossamer (?:crawl|resume)[^"]*"/g, 'crawl({ dir, email })'],
];

/** A text in quotes is the caller's own: what looks like a flag in it is none. */
const QUOTED_OR_FLAG = /"(?:[^"\\]|\\.)*"|(?<![\w-])--([a-z][a-z-]*)(?: ([a-z]+)\b)?/g;

/** Names options in a sentence that names flags: `--max-pages` is `maxPages`, `--keep none` is `keep: 'none'`. */
export const inOptionNames = (message: string): string =>
  COMMANDS.reduce((text, [command, call]) => text.replace(command, call), message).replace(
    QUOTED_OR_FLAG,
    (whole, flag: string | undefined, word: string | undefined) => {
      const option = flag === undefined ? undefined : OPTIONS.get(flag);
      if (option === undefined) return whole;
      if (word === undefined) return option;
      return CHOICES.get(flag!)!.includes(word) ? `${option}: '${word}'` : `${option} ${word}`;
    },
  );

/** Does the work; what it throws speaks of options. */
export const speakingOfOptions = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    // Only what we throw: others may throw through here, and an AbortError cannot be changed.
    if (error instanceof UsageError || error instanceof StoreFault || error instanceof DiskError)
      error.message = inOptionNames(error.message);
    throw error;
  }
};
