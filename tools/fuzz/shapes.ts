/** Inputs that can be made as long as one likes: pieces that are repeated, nested, alternated, left open. */

import type { Chance } from '../../tests/support/broken-pages.ts';

/**
 * Plain data, so that a report can name one and a test can keep it. In a piece that is repeated, `#` becomes a number
 * that counts up, and VARIED a character that is another one each time.
 */
export interface Shape {
  readonly before: string;
  /** Repeated. */
  readonly part: string;
  /** In the middle, once. */
  readonly middle: string;
  /** Repeated after the middle, as often as `part`. */
  readonly close: string;
  readonly after: string;
}

/** Stands for a Chinese character, each time the next: what sorts or counts characters meets many. */
export const VARIED = '\ue000';
const FIRST_VARIED = 0x4e00;
const VARIED_COUNT = 20_000;

const PIECES_JOINED_MAX = 3;

const pick = <T>(chance: Chance, list: readonly T[]): T => list[chance(list.length)]!;

/** One of these pieces, or nothing, with a chance of one in so many. */
const sometimes = (chance: Chance, pieces: readonly string[], oneIn: number): string =>
  chance(oneIn) === 0 ? pick(chance, pieces) : '';

/** A shape of these pieces by chance. A piece of one character is often repeated alone: many a slow loop needs it. */
export const makeShape = (chance: Chance, pieces: readonly string[]): Shape => {
  const joined = (most: number): string =>
    Array.from({ length: 1 + chance(most) }, () => pick(chance, pieces)).join('');
  return {
    before: chance(2) === 0 ? joined(PIECES_JOINED_MAX) : '',
    part: joined(chance(2) === 0 ? 1 : PIECES_JOINED_MAX),
    middle: sometimes(chance, pieces, 4),
    close: chance(3) === 0 ? joined(2) : '',
    after: sometimes(chance, pieces, 3),
  };
};

/** The shape with about that many characters. */
export const grown = ({ before, part, middle, close, after }: Shape, characters: number): string => {
  const times = Math.max(1, Math.floor((characters - before.length - after.length) / (part.length + close.length)));
  return before + repeated(part, times) + middle + repeated(close, times) + after;
};

const repeated = (piece: string, times: number): string => {
  if (!piece.includes('#') && !piece.includes(VARIED)) return piece.repeat(times);
  let text = '';
  for (let i = 0; i < times; i++)
    text += piece.replaceAll('#', String(i)).replaceAll(VARIED, String.fromCharCode(FIRST_VARIED + (i % VARIED_COUNT)));
  return text;
};

/** Simpler shapes to try instead, the simplest first. */
export const simpler = (shape: Shape): Shape[] =>
  [
    { ...shape, before: '', middle: '', close: '', after: '' },
    { ...shape, close: '' },
    { ...shape, before: '' },
    { ...shape, middle: '' },
    { ...shape, after: '' },
    { ...shape, part: shape.part.slice(0, Math.ceil(shape.part.length / 2)) },
    { ...shape, part: shape.part.slice(Math.floor(shape.part.length / 2)) },
    { ...shape, before: shape.before.slice(0, Math.floor(shape.before.length / 2)) },
    { ...shape, before: shape.before.slice(Math.ceil(shape.before.length / 2)) },
  ].filter((one) => one.part !== '' && lengthOf(one) < lengthOf(shape));

const lengthOf = ({ before, part, middle, close, after }: Shape): number =>
  [before, part, middle, close, after].join('').length;
