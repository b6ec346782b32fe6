/**
 * A queue of numbers, however long, as one short text: only a few numbers are at hand, the others lie in packs that its
 * owner keeps.
 *
 * Both ends have levels: level 0 is numbers, level 1 packs of numbers, level 2 packs of packs, and so on. The text is
 * `front 0;front 1;...|...;back 1;back 0`, in the order of the queue, so the first and the last number are its first
 * and last words, and most changes are made to the text as it is. An empty queue is an empty text; a short one is its
 * numbers.
 */

export interface Packs {
  put(numbers: readonly number[]): number;
  get(pack: number): readonly number[];
  drop(pack: number): void;
}

/** Numbers of a level that are at hand at one end, about. Longer texts cost each change, shorter ones more packs. */
const AT_HAND = 16;

interface Levels {
  /** From level 0 up. Unless the queue is empty, `front[0]` is not. */
  readonly front: number[][];
  /** From level 0 up, though they are written the other way round. */
  readonly back: number[][];
}

const readLevels = (text: string | undefined): number[][] =>
  text === undefined || text === ''
    ? []
    : text.split(';').map((level) => (level === '' ? [] : level.split(' ').map(Number)));

const read = (queue: string): Levels => {
  const [front, back] = queue.split('|', 2);
  return { front: readLevels(front), back: readLevels(back).reverse() };
};

const writeLevels = (levels: readonly (readonly number[])[]): string =>
  levels.map((level) => level.join(' ')).join(';');

const write = ({ front, back }: Levels): string =>
  back.length === 0 ? writeLevels(front) : `${writeLevels(front)}|${writeLevels(back.toReversed())}`;

export const firstOf = (queue: string): number | null => (queue === '' ? null : parseInt(queue, 10));

export const pushLast = (queue: string, number: number, packs: Packs): string => {
  if (queue === '') return String(number);
  const levelAt = Math.max(queue.lastIndexOf('|'), queue.lastIndexOf(';')) + 1;
  const isShort = levelAt === 0;
  // The last level of all is level 0 of the back, or of the front where that is all there is.
  if (
    (isShort || queue.includes('|')) &&
    levelAt < queue.length &&
    wordsFrom(queue, levelAt) < (isShort ? AT_HAND : AT_HAND - 1)
  )
    return `${queue} ${number}`;
  const levels = read(queue);
  addAt(levels.back, number, { packs, level: 0 });
  return write(levels);
};

const wordsFrom = (text: string, from: number): number => {
  let words = 1;
  for (let at = text.indexOf(' ', from); at >= 0; at = text.indexOf(' ', at + 1)) words++;
  return words;
};

const addAt = (back: number[][], number: number, { packs, level }: { packs: Packs; level: number }): void => {
  const numbers = (back[level] ??= []);
  numbers.push(number);
  if (numbers.length < AT_HAND) return;
  const pack = packs.put(numbers);
  back[level] = [];
  addAt(back, pack, { packs, level: level + 1 });
};

export const pushFirst = (queue: string, number: number, packs: Packs): string => {
  const levels = read(queue);
  const { front } = levels;
  (front[0] ??= []).unshift(number);
  for (let level = 0; front[level]!.length > 2 * AT_HAND; level++) {
    const pack = packs.put(front[level]!.splice(-AT_HAND));
    (front[level + 1] ??= []).unshift(pack);
  }
  return write(levels);
};

/** Takes the first number away; the next one is then at hand. */
export const dropFirst = (queue: string, packs: Packs): string => {
  const next = /^\d+ /.exec(queue);
  if (next) return queue.slice(next[0].length);
  const levels = read(queue);
  levels.front[0]?.shift();
  refill(levels, packs);
  trim(levels.front);
  trim(levels.back);
  return write(levels);
};

/** Brings the first number to hand when the lowest level of the front is empty. */
const refill = ({ front, back }: Levels, packs: Packs): void => {
  let level = front.findIndex((numbers) => numbers.length > 0);
  if (level < 0) {
    // Nothing is left of the front: what is oldest at the back takes its place.
    level = back.findLastIndex((numbers) => numbers.length > 0);
    if (level < 0) return;
    while (front.length <= level) front.push([]);
    [front[level], back[level]] = [back[level]!, []];
  }
  for (; level > 0; level--) {
    const pack = front[level]!.shift()!;
    front[level - 1] = [...packs.get(pack)];
    packs.drop(pack);
  }
};

const trim = (levels: number[][]): void => {
  while (levels.at(-1)?.length === 0) levels.pop();
};

/** All numbers in their order; `meetPack` is told of each pack before it is read. */
export function* numbersOf(
  queue: string,
  packs: Pick<Packs, 'get'>,
  meetPack: (pack: number) => void = () => {},
): Generator<number> {
  const { front, back } = read(queue);
  for (let level = 0; level < front.length; level++) yield* unpack(front[level]!, level);
  for (let level = back.length - 1; level >= 0; level--) yield* unpack(back[level]!, level);

  function* unpack(numbers: readonly number[], level: number): Generator<number> {
    if (level === 0) return yield* numbers;
    for (const pack of numbers) {
      meetPack(pack);
      yield* unpack(packs.get(pack), level - 1);
    }
  }
}
