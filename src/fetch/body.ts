/** A body as it grows: its bytes in memory of its own, counted against the shared budget. */

import { roomBytes, type BodyMemory } from './body-memory.ts';
import type { Sink } from './body-reader.ts';
import type { Span } from './span.ts';

/** First guess for a body of unknown length. */
const FIRST_BYTES = 32 * 1024;

export class Body implements Sink {
  length = 0;
  readonly #memory: BodyMemory;
  readonly #bytesMax: number;
  /** Never grow beyond what is expected. */
  readonly #usefulBytes: number;
  #bytes: Buffer<ArrayBuffer> | null = null;

  constructor(memory: BodyMemory, bytesMax: number, expectedBytes: number) {
    this.#memory = memory;
    this.#bytesMax = bytesMax;
    this.#usefulBytes = Math.min(bytesMax, expectedBytes);
  }

  take(span: Span, count: number): boolean {
    const taken = Math.min(count, this.#bytesMax - this.length);
    if (taken > 0) {
      this.#reserve(this.length + taken);
      span.bytes.copy(this.#bytes as Buffer, this.length, span.at, span.at + taken);
      this.length += taken;
    }
    return taken === count;
  }

  /** A length that is announced above the ceiling is cut there without waiting for one byte more. */
  get isFull(): boolean {
    return this.length === this.#bytesMax;
  }

  /** The bytes, in an ArrayBuffer that is exactly theirs and can be transferred. */
  finish(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes;
    this.#bytes = null;
    if (bytes === null) return new Uint8Array(0);
    const whole = new Uint8Array(bytes.buffer);
    if (bytes.length === this.length) return whole;
    this.#memory.heldBytes += this.length - bytes.length;
    return whole.slice(0, this.length);
  }

  /** Give up what was read. */
  drop(): void {
    this.#memory.heldBytes -= this.#bytes?.length ?? 0;
    this.#bytes = null;
    this.length = 0;
  }

  #reserve(needed: number): void {
    const now = this.#bytes?.length ?? 0;
    if (needed <= now) return;
    // Double while there is room; when memory is short, take no more than this read needs.
    const wish = Math.min(Math.max(2 * now, FIRST_BYTES), this.#usefulBytes, now + roomBytes(this.#memory));
    const size = Math.max(needed, Math.floor(wish));
    // Not from the shared pool: the ArrayBuffer must be its own to be transferred.
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes?.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
    this.#memory.heldBytes += size - now;
  }
}
