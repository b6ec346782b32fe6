/** Reads a ledger back: every request with its end, if it has one, in memory that does not grow with the ledger. */

import { existsSync } from 'node:fs';
import { noteFilesIn, readNoteFile } from './files.ts';
import { cursorOf, FORMAT, readNote, type Cursor, type NotedEnd, type NotedRequest, type RunHead } from './format.ts';

export interface ReadRequest {
  readonly head: RunHead;
  readonly request: NotedRequest;
  /** Null when the request was under way at a kill, or still is. */
  readonly end: NotedEnd | null;
}

export interface ReadOptions {
  readonly dir: string;
  /** Told of what cannot be read, in a sentence. */
  readonly onDamage: (says: string) => void;
  /** Told after each file. */
  readonly onProgress?: (files: number, total: number) => void;
}

/** One writer at a time: its files follow each other. */
interface WriterState {
  writer: string;
  head: RunHead | null;
  /** Where the next file should go on; null when that is not known. */
  cursor: Cursor | null;
  /** Requests without an end so far, by number: as many as a fetch thread has under way. */
  readonly open: Map<number, ReadRequest>;
}

/** Half a note at the end of a file is what a kill leaves, and no damage. */
export function* readLedger({ dir, onDamage, onProgress }: ReadOptions): Generator<ReadRequest> {
  const names = existsSync(dir) ? noteFilesIn(dir) : [];
  const state: WriterState = { writer: '', head: null, cursor: null, open: new Map() };
  for (const [n, name] of names.entries()) {
    yield* readFile({ dir, name, state, onDamage });
    onProgress?.(n + 1, names.length);
  }
  yield* left(state);
}

interface FileReading {
  readonly dir: string;
  readonly name: string;
  readonly state: WriterState;
  readonly onDamage: (says: string) => void;
}

function* readFile({ dir, name, state, onDamage }: FileReading): Generator<ReadRequest> {
  const damage = (says: string): void => {
    onDamage(`${name} of the ledger ${says}`);
    state.cursor = null;
  };
  const lines = linesOf({ dir, name, damage });
  const first = lines?.next();
  if (!first || first.done) return;
  const head = readHead(first.value);
  if (!head) return damage('does not begin as a ledger of this program does');
  yield* begin({ state, head, damage });
  let n = 1;
  for (const line of lines!) {
    n++;
    const note = readNote(line, state.cursor!);
    if (note === null) return damage(`cannot be read from line ${n} on`);
    if (note.kind === 'request') state.open.set(note.number, { head, request: note.request, end: null });
    else {
      const begun = state.open.get(note.end.number);
      state.open.delete(note.end.number);
      if (begun) yield { ...begun, end: note.end };
    }
  }
}

/** A file goes on where the one before it ended, or another writer begins. */
function* begin({
  state,
  head,
  damage,
}: {
  state: WriterState;
  head: RunHead;
  damage: (says: string) => void;
}): Generator<ReadRequest> {
  const writer = `${head.run} ${head.thread}`;
  const expected = writer === state.writer ? state.cursor?.number : 0;
  if (writer !== state.writer) yield* left(state);
  if (expected !== undefined && head.first !== expected)
    damage(`begins with request ${head.first}, not ${expected}: what was before it is missing`);
  state.writer = writer;
  state.cursor = cursorOf(head);
}

function* left({ open }: WriterState): Generator<ReadRequest> {
  yield* open.values();
  open.clear();
}

const NEWLINE = 10;

function* whole(bytes: Buffer): Generator<string> {
  for (let at = 0; ; ) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end < 0) return; // what comes after the last line end is torn
    yield bytes.toString('latin1', at, end);
    at = end + 1;
  }
}

const linesOf = ({
  dir,
  name,
  damage,
}: {
  dir: string;
  name: string;
  damage: (says: string) => void;
}): Generator<string> | null => {
  try {
    return whole(readNoteFile(dir, name));
  } catch (error) {
    damage(`cannot be read: ${(error as Error).message}`);
    return null;
  }
};

const readHead = (line: string): RunHead | null => {
  try {
    const head = JSON.parse(line) as RunHead;
    return head.format === FORMAT &&
      [head.at, head.first].every(Number.isSafeInteger) &&
      [head.delayMs, head.timeoutMs].every(Number.isFinite)
      ? head
      : null;
  } catch {
    return null;
  }
};
