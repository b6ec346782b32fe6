/** What a check of a crawl is asked for, how it tells where it is, and what it counts. */

export interface VerifyOptions {
  readonly dir: string;
  readonly repair: boolean;
  readonly onProgress: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly phase: 'store' | 'links' | 'archive' | 'repair';
  readonly done: number;
  readonly total: number;
  readonly unit: 'bytes' | 'links';
}

export interface Figures {
  pages: number;
  records: number;
  files: number;
  archiveBytes: number;
  links: number;
  sites: number;
}
