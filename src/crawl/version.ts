/** The version of this program, from its package. */

import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
}

export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as Manifest;
