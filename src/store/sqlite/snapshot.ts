/**
 * The table of known fingerprints as a file beside the database, so that a large crawl opens at the speed of its disk.
 *
 * The log in the database is the truth; the snapshot saves reading all of it. A row in the database names the snapshot
 * that belongs to it, by its checksum and the last row of the log that it has, and is committed after the file is on
 * disk: a file that is older, newer, damaged or another crawl's is not used, and the whole log is read instead.
 */

import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import {
  createFingerprintTable,
  restoreFingerprintTable,
  type FingerprintTable,
  type SharedFingerprints,
} from '../../lib/fingerprint-table.ts';
import { snapshotPath } from '../files.ts';
import { printsAfter, seenLog } from './seen-log.ts';

/** The table of a crawl as its database has it, and how much of that a snapshot has already. */
export interface Loaded {
  readonly seen: FingerprintTable;
  /** Fingerprints that were read from the log. */
  readonly replayed: number;
}

export interface SnapshotRequest extends Loaded {
  /** Fingerprints that the next start would have to read from the log, from which on a snapshot is written. */
  readonly from: number;
}

/** Reading so many from the log takes about a tenth of a second: fewer are not worth a file. */
export const SNAPSHOT_FROM = 500_000;

interface Named {
  readonly through: number;
  readonly crc: number;
  readonly hasZero: boolean;
  /** Bytes of each segment. */
  readonly segments: readonly number[];
}

export const loadSeen = (db: DatabaseSync, path: string): Loaded => {
  const named = namedIn(db);
  const restored = named && readSnapshot(snapshotPath(path), named);
  const after = restored ? named!.through : 0;
  const replayed = printsAfter(db, after);
  const seen = restored ?? createFingerprintTable(replayed);
  for (const { prints } of seenLog(db, after)) for (const print of prints) seen.add(print);
  return { seen, replayed };
};

/** Writes a snapshot if the next start would otherwise have much to read. Nothing may be added meanwhile. */
export const writeSnapshot = (db: DatabaseSync, path: string, { seen, replayed, from }: SnapshotRequest): void => {
  const { through } = db.prepare('SELECT coalesce(max(id), 0) AS through FROM seen').get() as { through: number };
  const named = namedIn(db);
  const after = named ? printsAfter(db, named.through) : seen.size;
  if (through === 0 || Math.max(after, replayed) < from) return;
  const { segments, hasZero } = seen.shared;
  const target = snapshotPath(path);
  let crc: number;
  try {
    crc = writeWhole(target, segments);
  } catch {
    return; // a disk without room for it: the next start reads the log
  }
  const row: Named = { through, crc, hasZero, segments: segments.map((segment) => segment.byteLength) };
  db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('snapshot', ?)").run(JSON.stringify(row));
};

const namedIn = (db: DatabaseSync): Named | null => {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'snapshot'").get() as { value: string } | undefined;
  return row ? (JSON.parse(row.value) as Named) : null;
};

/** The checksum of what was written; the file is there under its name only when it is whole and on disk. */
const writeWhole = (target: string, segments: SharedFingerprints['segments']): number => {
  const fd = openSync(`${target}.new`, 'w');
  let crc = 0;
  try {
    for (const segment of segments) {
      const bytes = new Uint8Array(segment);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      crc = crc32(bytes, crc);
    }
    fsyncSync(fd);
  } catch (error) {
    rmSync(`${target}.new`, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  renameSync(`${target}.new`, target);
  const dir = openSync(dirname(target), 'r');
  fsyncSync(dir);
  closeSync(dir);
  return crc;
};

/** Null when the file is not the one that the database names, or cannot be read: it is not needed. */
const readSnapshot = (target: string, named: Named): FingerprintTable | null => {
  let fd: number;
  try {
    fd = openSync(target, 'r');
  } catch {
    return null;
  }
  try {
    if (fstatSync(fd).size !== named.segments.reduce((sum, bytes) => sum + bytes, 0)) return null;
    let crc = 0;
    const segments = named.segments.map((length) => {
      const bytes = new Uint8Array(new SharedArrayBuffer(length));
      for (let at = 0; at < length; ) {
        const read = readSync(fd, bytes, at, length - at, null);
        if (read === 0) break;
        at += read;
      }
      crc = crc32(bytes, crc);
      return bytes.buffer;
    });
    return crc === named.crc ? restoreFingerprintTable({ segments, hasZero: named.hasZero }) : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
};
