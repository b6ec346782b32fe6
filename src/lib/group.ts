/** Group commit: what comes while a batch is under way goes together in the next one. */

export interface Group<T> {
  /** Resolves when the batch that holds these items is done; rejects with its error. */
  add(items: readonly T[]): Promise<void>;
}

interface Entry<T> {
  readonly items: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A batch takes no further entry once it has this many items, so that one is never much longer than the others. */
const BATCH_ITEMS_MAX = 5_000;

export const createGroup = <T>(
  commit: (items: readonly T[]) => Promise<void>,
  itemsMax = BATCH_ITEMS_MAX,
): Group<T> => {
  let line: Entry<T>[] = [];
  let busy = false;

  const nextBatch = (): Entry<T>[] => {
    let items = 0;
    let entries = 0;
    while (entries < line.length && items < itemsMax) items += line[entries++]!.items.length;
    const batch = line.slice(0, entries);
    line = line.slice(entries);
    return batch;
  };

  const work = async (): Promise<void> => {
    busy = true;
    await null; // what is added in the same turn goes together
    while (line.length > 0) {
      const batch = nextBatch();
      try {
        await commit(batch.flatMap(({ items }) => items));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    busy = false;
  };

  return {
    add: (items) =>
      new Promise((resolve, reject) => {
        line.push({ items, resolve, reject });
        if (!busy) void work();
      }),
  };
};
