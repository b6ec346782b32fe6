/** Names that settings had before, which are still understood. */

import type { Settings } from './settings.ts';

export interface OldSettings {
  /** The old name of `scope: 'site'`. Default `false`. */
  readonly seededOnly: boolean;
}

export const OLD_SETTINGS = {
  seededOnly: {
    flag: 'seeded-only',
    says: 'the old name of --scope site',
    now: (value: boolean): Pick<Settings, 'scope'> => ({ scope: value ? 'site' : 'any' }),
  },
} as const;
