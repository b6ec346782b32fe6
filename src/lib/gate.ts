/** Something to wait at until it is opened; each opening lets the waiters through once. */

export interface Gate {
  open(): void;
  /** Resolves at the next opening. */
  passed(): Promise<void>;
}

export const createGate = (): Gate => {
  let waiters: (() => void)[] = [];
  return {
    open: () => {
      const through = waiters;
      waiters = [];
      for (const resolve of through) resolve();
    },
    passed: () => new Promise((resolve) => waiters.push(resolve)),
  };
};
