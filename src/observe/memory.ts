/** What this process holds in memory. */

/** Linux gives it as a file, which cannot be opened while no descriptor is left: no reason to end a crawl. */
export const memoryBytes = (): number => {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
};
