/** A public suite of tests, read from the files of those who keep it. */

export type Verdict =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly says: string }
  /** Nothing to compare, or a difference that is meant; `why` is counted. */
  | { readonly kind: 'left-out'; readonly why: string };

export interface Case {
  /** Where it stands: the file and what it is called there. */
  readonly name: string;
  readonly verdict: Verdict;
}

export interface Suite {
  readonly name: string;
  /** Where to get it. */
  readonly from: string;
  /** Which files of a folder are of this suite: paths with `/` between their parts. */
  readonly isMine: (path: string) => boolean;
  /** The cases of one file; throws when the file is not of the form it should have. */
  readonly cases: (file: string, bytes: Buffer) => Iterable<Case>;
}

export const PASSED: Verdict = { kind: 'passed' };
export const failed = (says: string): Verdict => ({ kind: 'failed', says });
export const leftOut = (why: string): Verdict => ({ kind: 'left-out', why });

const SHOWN_CHARS_MAX = 200;

/** Passed when both are the same as JSON. */
export const compared = (ours: unknown, theirs: unknown): Verdict => {
  const [a, b] = [JSON.stringify(ours) ?? 'nothing', JSON.stringify(theirs) ?? 'nothing'];
  return a === b ? PASSED : failed(`${a.slice(0, SHOWN_CHARS_MAX)} instead of ${b.slice(0, SHOWN_CHARS_MAX)}`);
};
