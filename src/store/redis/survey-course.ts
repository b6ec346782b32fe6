/** What the parts of a survey share: what was counted and met so far, and how to tell what is wrong. */

import type { FingerprintTable } from '../../lib/fingerprint-table.ts';
import type { Look } from './look.ts';
import type { LineReader } from './read-lines.ts';
import type { SettledRows } from './settled-rows.ts';

/** Counters as the hash `count` of a shard names them. */
export type Counted = Map<string, number>;

export interface Course {
  readonly look: Look;
  readonly shards: number;
  readonly rows: SettledRows;
  readonly lines: LineReader;
  /** Of all shards together. */
  readonly counted: Counted;
  /** Lines of files that are referred to, by shard and file, where lines lie in files. */
  readonly referred: Counted;
  /** Names of keys that a site or a counter accounts for. */
  readonly keys: FingerprintTable;
  /** Pages of other members are elsewhere. */
  readonly isAlone: boolean;
  wrong(says: string): void;
  /** A link of that site was met; `settled` when it is a page. */
  meet(url: string, site: string, settled?: boolean): void;
}

export const count = (counted: Counted, name: string, by = 1): void =>
  void counted.set(name, (counted.get(name) ?? 0) + by);

/** A number of its own for each shard: the golden ratio in 64 bits spreads them. */
const SALT = 0x9e37_79b9_7f4a_7c15n;
const salts: bigint[] = [];

/** The same URL in two shards is two things. */
export const ofShard = (print: bigint, shard: number): bigint =>
  print ^ (salts[shard] ??= BigInt.asUintN(64, BigInt(shard) * SALT));
