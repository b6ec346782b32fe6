/** Group commit: what comes while a batch is under way goes together in the next one. */

export interface Group<T> {
  /** Resolves when the batch that holds these items is done; rejects with its error. */
  add(items: readonly T[]): Promise<void>;
}

/** A batch is cut at this many items, so that one is never much longer than the others. */
const BATCH_ITEMS_MAX = 5_000;

export const createGroup = <T>(commit: (items: readonly T[]) => Promise<void>): Group<T> => {
  let items: T[] = [];
  let waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  let next: Promise<void> | null = null;
  let under: Promise<void> = Promise.resolve();

  const send = async (): Promise<void> => {
    await under.catch(() => {}); // its own waiters were told
    const batch = items;
    const told = waiters;
    [items, waiters, next] = [[], [], null];
    under = commit(batch);
    try {
      await under;
      for (const waiter of told) waiter.resolve();
    } catch (error) {
      for (const waiter of told) waiter.reject(error);
    }
  };

  return {
    add: (more) =>
      new Promise((resolve, reject) => {
        for (const item of more) items.push(item);
        waiters.push({ resolve, reject });
        if (next && items.length < BATCH_ITEMS_MAX) return;
        next = send();
      }),
  };
};
