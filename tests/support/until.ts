/** Waiting for what a test needs to have happened, however long the machine takes for it. */

/** Nothing that a test waits for takes this long on any machine: a test that waits in vain fails instead of hanging. */
export const PATIENCE_MS = 300_000;
const LOOK_MS = 5;

/** Looks again and again until it is so; fails with these words when it does not come true. */
export const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) throw new Error(`it never came true that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};
