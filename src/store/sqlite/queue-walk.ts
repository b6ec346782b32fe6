/** Walks the queue of a site to its end, also when it is broken, and remembers which blocks and packs were met. */

import { numbersOf } from '../../lib/long-queue.ts';
import type { Waiting } from '../../model/waiting.ts';
import { readWaitingLines } from '../waiting-text.ts';
import { createNumberSet, type NumberSet } from './number-set.ts';
import { READ_IN_BLOCK, readBlock, type QueueEnds } from './queue.ts';
import type { Connection } from './schema.ts';

export interface Met {
  readonly blocks: NumberSet;
  readonly packs: NumberSet;
}

export const createMet = (): Met => ({ blocks: createNumberSet(), packs: createNumberSet() });

/** What a queue's text can be: levels of block numbers, the front and the back of the queue. */
const QUEUE_TEXT = /^[0-9 ;]*(?:\|[0-9 ;]*)?$/;

/** What is wrong with a queue; it ends a walk. */
class Broken extends Error {}

export interface WalkedBlock {
  readonly id: number;
  readonly links: readonly Waiting[];
}

/** Each block of the queue in order; where it is broken, a text that says how comes last. */
export function* walkQueue(
  connection: Connection,
  { site, queue, head_at }: QueueEnds & { readonly site: string },
  met: Met,
): Generator<WalkedBlock | string> {
  let isFirst = true;
  for (const id of blockNumbers(connection, queue, met)) {
    if (typeof id === 'string') return yield id;
    const block = readBlock(connection, id);
    if (!block) return yield `block ${id} is missing`;
    const [readTo, via, text] = block;
    const links = linksFrom(text, isFirst && head_at !== READ_IN_BLOCK ? head_at : readTo, { via, site });
    if (links === null) return yield `block ${id} cannot be read`;
    yield { id, links };
    isFirst = false;
  }
}

/** The numbers of a queue's blocks; where it is broken, a text that says how comes last. */
export function* blockNumbers({ sql }: Connection, queue: string, met: Met): Generator<number | string> {
  if (!QUEUE_TEXT.test(queue)) return yield 'the list of its blocks cannot be read';
  const select = sql('SELECT blocks FROM pack WHERE id = ?', 'arrays');
  const get = (pack: number): number[] => {
    if (!met.packs.add(pack)) throw new Broken(`pack ${pack} is in two places`);
    const row = select.get(pack) as unknown as [string] | undefined;
    if (!row) throw new Broken(`pack ${pack} is missing`);
    const numbers = row[0].split(' ').map(Number);
    if (!numbers.every(Number.isSafeInteger)) throw new Broken(`pack ${pack} cannot be read`);
    return numbers;
  };
  try {
    for (const id of numbersOf(queue, { get })) {
      if (!met.blocks.add(id)) throw new Broken(`block ${id} is in two places`);
      yield id;
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    yield error.message;
  }
}

/** The links of a block from this character on; null when something else is there. */
export const linksFrom = (
  text: string,
  from: number,
  { via, site }: { readonly via: string; readonly site: string },
): Waiting[] | null =>
  from < 0 || from >= text.length || (from > 0 && text[from - 1] !== '\n')
    ? null
    : readWaitingLines(text.slice(from), via, site);
