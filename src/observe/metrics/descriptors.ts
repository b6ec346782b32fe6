/**
 * The open file descriptors of this process by kind, from what the system says and what the threads know of their
 * sockets.
 */

import { readdirSync, readlinkSync } from 'node:fs';
import type { DescriptorKind } from './table.ts';

const FD_DIR = '/proc/self/fd';

export interface KnownSockets {
  readonly store: number;
  readonly http: number;
  readonly https: number;
}

export type Descriptors = Readonly<Record<DescriptorKind, number>>;

/** What each descriptor points to; null on a system that does not tell. */
const targets = (): string[] | null => {
  let names: string[];
  try {
    names = readdirSync(FD_DIR);
  } catch {
    return null;
  }
  return names.flatMap((name) => {
    try {
      return [readlinkSync(`${FD_DIR}/${name}`)];
    } catch {
      return []; // closed since: the one that the directory itself was read with is among these
    }
  });
};

/** Every descriptor is in one kind, so that they add up. A scan of some thousand takes milliseconds. */
export const countDescriptors = (known: KnownSockets, isOfStore: (path: string) => boolean): Descriptors | null => {
  const found = targets();
  return found && sortDescriptors(found, known, isOfStore);
};

export const sortDescriptors = (
  found: readonly string[],
  known: KnownSockets,
  isOfStore: (path: string) => boolean,
): Descriptors => {
  const counts = { store: 0, http: 0, https: 0, files: 0, pipes: 0, other: 0 };
  let sockets = 0;
  for (const target of found) {
    if (target.startsWith('socket:')) sockets++;
    else if (target.startsWith('pipe:')) counts.pipes++;
    else if (!target.startsWith('/') || target.startsWith('/dev/') || target.startsWith('/memfd:')) counts.other++;
    else counts[isOfStore(target) ? 'store' : 'files']++;
  }
  // The threads count by themselves, a moment before or after this look: no more than there are.
  for (const kind of ['http', 'https', 'store'] as const) {
    const some = Math.min(known[kind], sockets);
    counts[kind] += some;
    sockets -= some;
  }
  counts.other += sockets;
  return counts;
};
