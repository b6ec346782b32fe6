/** A stable 64-bit name for a text, the same in every process, on every machine, in every version. */

import xxhash from 'xxhash-wasm';

/** What the crawl records of the hash: a program with another one must not open it. */
export const HASH_VERSION = 'xxh64-1';

const { h64 } = await xxhash();

/** XXH64 of the UTF-8 bytes, seed 0. */
export const fingerprint = (text: string): bigint => h64(text);
