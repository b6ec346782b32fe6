/** Links on their way into the store beside those that pages bring: a run is not finished while there are some. */

export interface Admissions {
  note<T>(admission: Promise<T>): Promise<T>;
  pending(): number;
  /** How many have ended. */
  count(): number;
  /** Resolves when none is pending. */
  ended(): Promise<void>;
}

export const createAdmissions = (): Admissions => {
  const pending = new Set<Promise<unknown>>();
  let count = 0;
  return {
    note: (admission) => {
      const noted = admission.finally(() => {
        count++;
        pending.delete(noted);
      });
      pending.add(noted);
      return noted;
    },
    pending: () => pending.size,
    count: () => count,
    ended: async () => void (await Promise.allSettled(pending)),
  };
};
