/** What a check of a crawl is asked for, how it tells where it is, and what it counts. */

export interface VerifyOptions {
  /** The directories of the crawl that are at hand: of all its members where its store is shared. */
  readonly dirs: readonly string[];
  readonly repair: boolean;
  /** A member whose directory is not given is damage. */
  readonly all?: boolean;
  /** Members whose directories are gone for good, as a person names them: what was lost with them waits again. */
  readonly lost?: readonly string[];
  readonly onProgress: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly phase: 'store' | 'links' | 'archive' | 'repair';
  readonly done: number;
  readonly total: number;
  readonly unit: 'bytes' | 'links';
}

/** A member that settled links and whose directory was not given. */
export interface NotGiven {
  readonly member: string;
  readonly where: string;
  readonly settled: number;
}

export interface Figures {
  pages: number;
  records: number;
  files: number;
  archiveBytes: number;
  links: number;
  sites: number;
}
