/** A file that is there when it is whole, and not before. */

import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { UsageError } from '../../model/read-settings.ts';

/** Where an export goes. */
export interface Out {
  write(bytes: string | Uint8Array): void | Promise<void>;
}

/** Written under another name beside its place; `keep` gives it its own. */
export class OutFile implements Out {
  readonly #path: string;
  readonly #force: boolean;
  readonly #part: string;
  #fd: number | null;

  /** Throws a UsageError when it cannot be written, or is there already and `force` is not set. */
  constructor(path: string, force: boolean) {
    this.#path = path;
    this.#force = force;
    this.#part = `${path}.${process.pid}.part`; // two exports to one place do not write into each other
    this.#checkFree();
    try {
      this.#fd = openSync(this.#part, 'w');
    } catch (error) {
      throw new UsageError(`"${path}" cannot be written (${(error as Error).message}): choose another --out`);
    }
  }

  write(bytes: string | Uint8Array): void {
    const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    for (let at = 0; at < whole.length; ) at += writeSync(this.#fd!, whole, at);
  }

  keep(): void {
    this.#checkFree(); // it may have come meanwhile
    fsyncSync(this.#fd!);
    this.#close();
    renameSync(this.#part, this.#path);
  }

  /** Leaves nothing behind, unless it was kept. */
  drop(): void {
    if (this.#fd === null) return;
    this.#close();
    unlinkSync(this.#part);
  }

  #checkFree(): void {
    if (this.#force && statSync(this.#path, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`"${this.#path}" is a folder: choose another --out`);
    if (!this.#force && existsSync(this.#path))
      throw new UsageError(`"${this.#path}" is there already: choose another --out, or give --force to replace it`);
  }

  #close(): void {
    const fd = this.#fd!;
    this.#fd = null;
    closeSync(fd);
  }
}
