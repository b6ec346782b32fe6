/** The version of this program, from its package. */

import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
}

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;

/** The version of Gossamer: `0.2.0`. */
export const VERSION: string = manifest.version;
