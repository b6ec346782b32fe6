/** Sorts more lines than fit into memory: sorted runs go to a file, and are merged from there. */

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SortOptions {
  /** Where the runs are written when there is more than one. */
  readonly dir: string;
  /** Lines of one run, together; what is sorted at a time. */
  readonly runBytes?: number;
}

/** Sorted in half a second. */
const RUN_BYTES = 16 * 1024 ** 2;
/**
 * All runs are read at the same time, each through a window of its own: together as much as a run, but for very many.
 */
const WINDOW_BYTES_MIN = 64 * 1024;
/** What is given out, or written, at a time. */
const CHUNK_BYTES = 256 * 1024;
/** It must fit into a window. */
const LINE_BYTES_MAX = WINDOW_BYTES_MIN;
const LINE_END = 10;

interface Run {
  at: number;
  readonly end: number;
  lines: readonly string[];
  next: number;
}

/** The lines are ASCII without control characters, so that they sort by their bytes, as `LC_ALL=C sort` does. */
export class LineSorter {
  readonly #options: Required<SortOptions>;
  readonly #runs: Run[] = [];
  /**
   * The lines of this run as bytes, each with its line end, and where they begin: as strings they take several times as
   * much.
   */
  #room: Buffer | null = null;
  #starts: number[] = [];
  #used = 0;
  #fd: number | null = null;
  #fileBytes = 0;

  constructor(options: SortOptions) {
    this.#options = { runBytes: RUN_BYTES, ...options };
  }

  add(line: string): void {
    const room = (this.#room ??= Buffer.allocUnsafeSlow(this.#options.runBytes));
    const bytes = line.length + 1;
    if (bytes > LINE_BYTES_MAX) throw new Error(`a line has ${bytes} bytes, more than ${LINE_BYTES_MAX}`);
    if (this.#used + bytes > room.length) this.#spill();
    this.#starts.push(this.#used);
    room.write(line, this.#used, 'latin1');
    room[this.#used + line.length] = LINE_END;
    this.#used += bytes;
  }

  /** All lines in order, each with its line end, many at a time. */
  *sorted(): Generator<Uint8Array | string> {
    if (this.#runs.length === 0) {
      yield* this.#sortedRoom(() => Buffer.allocUnsafeSlow(CHUNK_BYTES));
      return;
    }
    if (this.#used > 0) this.#spill();
    this.#room = null;
    yield* chunksOf(this.#merged());
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = null;
    this.#room = null;
    if (fd !== null) closeSync(fd);
  }

  #spill(): void {
    const at = this.#fileBytes;
    const fd = (this.#fd ??= openNameless(this.#options.dir));
    const room = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (const chunk of this.#sortedRoom(() => room)) this.#fileBytes += written(fd, chunk, this.#fileBytes);
    this.#runs.push({ at, end: this.#fileBytes, lines: [], next: 0 });
    this.#starts = [];
    this.#used = 0;
  }

  /**
   * `chunkRoom` gives the room of the next chunk: the same again where a chunk is done with when the next is asked for.
   */
  *#sortedRoom(chunkRoom: () => Buffer): Generator<Uint8Array> {
    const room = this.#room;
    if (room === null) return;
    const end = this.#used;
    // From each line to the end of the room: a line end is less than all else, so what follows decides only between
    // equal lines.
    this.#starts.sort((a, b) => room.compare(room, b, end, a, end));
    let chunk = chunkRoom();
    let bytes = 0;
    for (const start of this.#starts) {
      const next = room.indexOf(LINE_END, start) + 1;
      if (bytes + next - start > chunk.length) {
        yield chunk.subarray(0, bytes);
        chunk = chunkRoom();
        bytes = 0;
      }
      bytes += room.copy(chunk, bytes, start, next);
    }
    if (bytes > 0) yield chunk.subarray(0, bytes);
  }

  *#merged(): Generator<string> {
    const windowBytes = Math.max(WINDOW_BYTES_MIN, Math.floor(this.#options.runBytes / this.#runs.length));
    const room = Buffer.allocUnsafe(windowBytes);
    const heap = this.#runs.filter((run) => fill(run, this.#fd!, room));
    for (let i = (heap.length >> 1) - 1; i >= 0; i--) siftDown(heap, i);
    while (heap.length > 0) {
      const first = heap[0]!;
      yield first.lines[first.next++]!;
      if (first.next === first.lines.length && !fill(first, this.#fd!, room)) {
        const last = heap.pop()!;
        if (last !== first) heap[0] = last;
      }
      siftDown(heap, 0);
    }
  }
}

/** A file that has no name any more is gone when it is closed, however that comes about. */
const openNameless = (dir: string): number => {
  const path = join(dir, `.gossamer-sort-${randomUUID()}`);
  const fd = openSync(path, 'wx+');
  unlinkSync(path);
  return fd;
};

function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chunk.push(line);
    chars += line.length + 1;
    if (chars < CHUNK_BYTES) continue;
    yield `${chunk.join('\n')}\n`;
    chunk = [];
    chars = 0;
  }
  if (chunk.length > 0) yield `${chunk.join('\n')}\n`;
}

const written = (fd: number, bytes: Uint8Array, position: number): number => {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
  return bytes.length;
};

/** The next lines of a run; false when it has none left. */
const fill = (run: Run, fd: number, room: Buffer): boolean => {
  const count = readSync(fd, room, 0, Math.min(room.length, run.end - run.at), run.at);
  const end = room.lastIndexOf('\n', count - 1);
  if (count === 0) return false;
  if (end < 0) throw new Error(`a line has more than ${room.length} bytes`);
  run.lines = room.toString('latin1', 0, end).split('\n');
  run.next = 0;
  run.at += end + 1;
  return true;
};

const lineOf = (run: Run): string => run.lines[run.next]!;

const siftDown = (heap: Run[], from: number): void => {
  for (let at = from; ; ) {
    const left = 2 * at + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const least = right < heap.length && lineOf(heap[right]!) < lineOf(heap[left]!) ? right : left;
    if (lineOf(heap[at]!) <= lineOf(heap[least]!)) return;
    [heap[at], heap[least]] = [heap[least]!, heap[at]!];
    at = least;
  }
};
