/** Where waiting links lie in files: what Redis has instead of the links. */

/** Links `from` to `to` - 1 of the block that begins there. */
export interface Reference {
  readonly file: number;
  readonly offset: number;
  readonly from: number;
  readonly to: number;
  /** How often each was claimed: the same for all, or those that were, by their number in the block. */
  readonly tries: number | ReadonlyMap<number, number>;
}

/**
 * `file offset from to`, file and offset in base 36 as steps never count with them; then tries, unless there are
 * none: `3`, or `;7=1;12=2`.
 */
export const writeReference = ({ file, offset, from, to, tries }: Reference): string => {
  const place = `${file.toString(36)} ${offset.toString(36)} ${from} ${to}`;
  if (tries === 0) return place;
  return typeof tries === 'number'
    ? `${place} ${tries}`
    : `${place} ${[...tries].map(([at, n]) => `;${at}=${n}`).join('')}`;
};

const REFERENCE = /^([0-9a-z]+) ([0-9a-z]+) (\d+) (\d+)(?: (\S+))?$/;

/** Null for a text that is none. */
export const readReference = (text: string): Reference | null => {
  const [, file, offset, from, to, tries = ''] = REFERENCE.exec(text) ?? [];
  if (to === undefined) return null;
  return { ...placeOf(file!, offset!), from: Number(from), to: Number(to), tries: readTries(tries) };
};

const placeOf = (file: string, offset: string) => ({ file: parseInt(file, 36), offset: parseInt(offset, 36) });

const readTries = (text: string): Reference['tries'] => {
  if (!text.startsWith(';')) return Number(text);
  return new Map(
    text
      .slice(1)
      .split(';')
      .map((one) => one.split('=').map(Number) as [number, number]),
  );
};

const TAKEN = /^([0-9a-z]+) ([0-9a-z]+) (\d+) (\d+)$/;

/** A link that was taken from its queue, as steps name it: `file offset number tries`. Null for a text that is none. */
export const readTaken = (text: string): Reference | null => {
  const [, file, offset, at, tries] = TAKEN.exec(text) ?? [];
  if (tries === undefined) return null;
  return { ...placeOf(file!, offset!), from: Number(at), to: Number(at) + 1, tries: Number(tries) };
};

export const linksIn = ({ from, to }: Reference): number => to - from;

export const triesOf = ({ tries }: Reference, at: number): number =>
  typeof tries === 'number' ? tries : (tries.get(at) ?? 0);

/** How many of its links were ever claimed: each is a few bytes of a reference that is not the same for all. */
export const triedIn = (reference: Reference): number =>
  typeof reference.tries === 'number' ? (reference.tries === 0 ? 0 : linksIn(reference)) : reference.tries.size;

/** The shortest way to say how often links, in their order from 0, were claimed. */
export const packTries = (tries: readonly number[]): Reference['tries'] => {
  const first = tries[0] ?? 0;
  if (tries.every((n) => n === first)) return first;
  return new Map(tries.flatMap((n, at) => (n > 0 ? [[at, n] as [number, number]] : [])));
};
