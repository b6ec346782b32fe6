/** A path to a socket in a directory that is short enough for the system, however deep the directory lies. */

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Linux takes 108 bytes with the zero at the end, others 104; some are left for names that are made here. */
const PATH_BYTES_MAX = 100;

export interface SocketPath {
  readonly path: string;
  /** It has been used: a socket that was bound or connected does not need it any more. */
  done(): void;
}

export const openSocketPath = (dir: string, name: string): SocketPath => {
  const plain = join(dir, name);
  if (Buffer.byteLength(plain) <= PATH_BYTES_MAX) return { path: plain, done: () => {} };
  // A link to the directory: the socket itself still lies where it should.
  const base = Buffer.byteLength(tmpdir()) > PATH_BYTES_MAX / 2 ? '/tmp' : tmpdir();
  const folder = mkdtempSync(join(base, 'gossamer-socket-'));
  symlinkSync(resolve(dir), join(folder, 'd'));
  return { path: join(folder, 'd', name), done: () => rmSync(folder, { recursive: true, force: true }) };
};
