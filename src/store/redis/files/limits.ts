/** Ceilings for waiting links in files. */

export interface FilesLimits {
  /** A file that has reached this is not appended to any more. */
  readonly fileBytesMax: number;
  /** A site with more references than this, and some for each full block of its links, gets some of them merged. */
  readonly referencesMax: number;
  readonly blockLinksMax: number;
  /** Characters of links and the pages that they were found on. */
  readonly blockCharsMax: number;
  /** How often files are looked at that may have become empty, or nearly so. */
  readonly lookMs: number;
  /** A file is kept so long after its last link was settled. */
  readonly graceMs: number;
}

export const FILES_LIMITS: FilesLimits = {
  // Small enough that a file of a crawl under way is soon used up, large enough that there are hundreds of them, not
  // thousands, at 100 M links.
  fileBytesMax: 64 * 1024 ** 2,
  // About 200 bytes of Redis. A link is written again each time its reference is merged: about once per power of eight
  // of the links in the queue.
  referencesMax: 16,
  blockLinksMax: 20_000,
  blockCharsMax: 2 * 1024 ** 2,
  lookMs: 60_000,
  // A Redis that is killed comes back as it was some seconds ago, or with snapshots alone at its last one, and refers
  // to what was consumed since. A crawl consumes some megabytes of links in this time.
  graceMs: 10 * 60_000,
};
