/** Readable pseudo-English: names of sites, titles of pages, and blocks of text made once. */

import { diceFor, mix, pick } from './random.ts';

export const NAMES: readonly string[] = [
  'rose', 'fern', 'willow', 'thistle', 'clover', 'heather', 'juniper', 'marigold', 'aster', 'bramble', 'cedar', 'daisy',
  'elder', 'foxglove', 'gorse', 'hazel', 'iris', 'jasmine', 'laurel', 'maple', 'nettle', 'olive', 'poppy', 'quince',
  'rowan', 'sorrel', 'tansy', 'violet', 'walnut', 'yarrow', 'alder', 'birch',
];
/** Users of a shared host: each is a site of its own. */
export const PEOPLE: readonly string[] = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];
export const SECTIONS: readonly string[] = ['garden', 'notes', 'stories', 'walks', 'recipes', 'letters', 'maps', 'birds'];

const ADJECTIVES = ['quiet', 'early', 'silver', 'patient', 'wandering', 'small', 'bright', 'northern', 'hollow', 'warm',
  'distant', 'careful', 'old', 'green', 'sudden', 'gentle', 'crooked', 'honest', 'late', 'narrow'] as const;
const NOUNS = ['river', 'orchard', 'lantern', 'harbour', 'meadow', 'letter', 'sparrow', 'kettle', 'window', 'bridge',
  'garden', 'valley', 'candle', 'ferry', 'market', 'winter', 'stone', 'thread', 'clock', 'attic'] as const;
const VERBS = ['follows', 'remembers', 'crosses', 'hides', 'warms', 'answers', 'carries', 'outlives', 'mends', 'watches',
  'borrows', 'forgets', 'finds', 'leaves', 'counts', 'circles'] as const;
const TAILS = ['before the rain', 'in the long evening', 'beside the mill', 'without a word', 'every other year',
  'as the tide turns', 'beyond the last house', 'under a thin moon', 'at the edge of town', 'for no reason at all'] as const;

/** Made once: a page of 60 KB names forty others by their titles. */
const TITLES: readonly string[] = ADJECTIVES.flatMap((adjective) =>
  NOUNS.flatMap((noun) => TAILS.map((tail) => `The ${adjective} ${noun} ${tail}`)));

export const titleFor = (key: number): string => pick(TITLES, key);

export const sentenceFor = (key: number): string => {
  const dice = diceFor(key);
  const draw = (list: readonly string[]): string => pick(list, dice(1e6));
  return `The ${draw(ADJECTIVES)} ${draw(NOUNS)} ${draw(VERBS)} the ${draw(ADJECTIVES)} ${draw(NOUNS)} ${draw(TAILS)}.`;
};

/** Text blocks that pages are put together from: copying them costs less than making words. */
export interface Prose {
  readonly blocks: readonly Buffer[];
  readonly blockBytes: number;
}

const BLOCKS = 64;
/** Small enough to hit a mean size of a few KB, large enough that a 60 KB page is 30 copies. */
const BLOCK_BYTES = 2_000;

export const makeProse = (seed: number): Prose => {
  const blocks = Array.from({ length: BLOCKS }, (_, b) => {
    let html = '<p>';
    for (let s = 0; html.length < BLOCK_BYTES; s++) {
      html += `${sentenceFor(mix(mix(seed, b), s))}${s % 5 === 4 ? '</p>\n<p>' : ' '}`;
    }
    return Buffer.from(`${html}</p>\n`, 'latin1');
  });
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return { blocks, blockBytes: bytes / BLOCKS };
};
