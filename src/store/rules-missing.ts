/** What a walk tells of an origin whose rules are known by name only: the same for every store. */

import type { Found } from '../contract/walk.ts';

export const rulesMissing = (origin: string): Found => ({
  kind: 'wrong',
  says: `the text of the robots rules of ${origin} is missing`,
});
