/** Which hits can be done on this machine. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountDisk, unmountDisk } from './crash-disk.ts';
import { ALL_HITS, canLimitDescriptors, type Hit } from './crash-hits.ts';

export const possibleHits = async (): Promise<Hit[]> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-crash-'));
  const dir = join(home, 'disk');
  const disk = await mountDisk(dir);
  unmountDisk(dir);
  rmSync(home, { recursive: true, force: true });
  const descriptors = await canLimitDescriptors();
  return ALL_HITS.filter((hit) => (hit !== 'disk' || disk) && (hit !== 'descriptors' || descriptors));
};
