/** A line on stderr every ten seconds: a long measurement is not a hung one. */

const TELL_MS = 10_000;

/** Says the line, unless it was said anything less than ten seconds ago: for loops that never let a timer run. */
export const createTeller = (): ((line: () => string) => void) => {
  let saidAt = performance.now();
  return (line) => {
    if (performance.now() - saidAt < TELL_MS) return;
    saidAt = performance.now();
    console.error(line());
  };
};

/** Says the line again and again while that work is under way. */
export const telling = async <T>(line: () => string, work: () => Promise<T>): Promise<T> => {
  const timer = setInterval(() => console.error(line()), TELL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
};
