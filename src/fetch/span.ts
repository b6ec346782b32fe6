/** A stretch of bytes that came from a socket, and how far it has been read. */

export interface Span {
  readonly bytes: Buffer;
  /** The next byte to read. Readers move it on. */
  at: number;
  end: number;
}

/** What one read brings at the most: what libuv reads at once by default. */
export const READ_BYTES_MAX = 64 * 1024;
