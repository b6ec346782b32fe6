/** Readable pseudo-English: names of sites, titles of pages, and blocks of text made once. */

import { diceFor, mix, pick } from './random.ts';

export const NAMES: readonly string[] = (
  'rose fern willow thistle clover heather juniper marigold aster bramble cedar daisy elder foxglove ' +
  'gorse hazel iris jasmine laurel maple nettle olive poppy quince rowan sorrel tansy violet walnut ' +
  'yarrow alder birch'
).split(' ');
/** Users of a shared host: each is a site of its own. */
export const PEOPLE: readonly string[] = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];
export const SECTIONS: readonly string[] = [
  'garden',
  'notes',
  'stories',
  'walks',
  'recipes',
  'letters',
  'maps',
  'birds',
];

const ADJECTIVES: readonly string[] = (
  'quiet early silver patient wandering small bright northern hollow warm distant careful old green ' +
  'sudden gentle crooked honest late narrow'
).split(' ');
const NOUNS: readonly string[] = (
  'river orchard lantern harbour meadow letter sparrow kettle window bridge garden valley candle ferry ' +
  'market winter stone thread clock attic'
).split(' ');
const VERBS: readonly string[] = (
  'follows remembers crosses hides warms answers carries outlives mends watches borrows forgets finds ' +
  'leaves counts circles'
).split(' ');
const TAILS = [
  'before the rain',
  'in the long evening',
  'beside the mill',
  'without a word',
  'every other year',
  'as the tide turns',
  'beyond the last house',
  'under a thin moon',
  'at the edge of town',
  'for no reason at all',
] as const;

/** Made once: a page of 60 KB names forty others by their titles. */
const TITLES: readonly string[] = ADJECTIVES.flatMap((adjective) =>
  NOUNS.flatMap((noun) => TAILS.map((tail) => `The ${adjective} ${noun} ${tail}`)),
);

export const titleFor = (key: number): string => pick(TITLES, key);

export const sentenceFor = (key: number): string => {
  const dice = diceFor(key);
  const draw = (list: readonly string[]): string => pick(list, dice(1e6));
  return `The ${draw(ADJECTIVES)} ${draw(NOUNS)} ${draw(VERBS)} the ${draw(ADJECTIVES)} ${draw(NOUNS)} ${draw(TAILS)}.`;
};

/** Blocks that pages are put together from: copying them costs less than making words. */
export interface Prose {
  readonly blocks: readonly Buffer[];
  readonly blockBytes: number;
}

const BLOCKS = 64;
/** Small enough to hit a mean size of a few KB, large enough that a 60 KB page is 30 copies. */
const BLOCK_BYTES = 2_000;

/** On real pages most bytes are markup, styles and scripts: about a fifth of these is text to read. */
export const makeProse = (seed: number): Prose => {
  const blocks = Array.from({ length: BLOCKS }, (_, b) => Buffer.from(blockFor(mix(seed, b)), 'latin1'));
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return { blocks, blockBytes: bytes / BLOCKS };
};

const blockFor = (key: number): string => {
  const dice = diceFor(key);
  const word = (): string => pick(NOUNS, dice(1e6));
  const name = (): string => `${pick(NAMES, dice(1e6))}-${dice(1e4).toString(36)}`;
  let html = `<section class="${name()} block block--${word()}" id="s${dice(1e9).toString(36)}" data-module="${word()}" data-track='{"list":"${name()}","slot":${dice(40)}}'>\n`;
  for (let card = 0; html.length < BLOCK_BYTES - 400; card++) {
    html +=
      `  <div class="card ${name()}"><div class="card__media" style="aspect-ratio:${2 + dice(9)}/${2 + dice(5)}">` +
      `<img src="/media/${name()}/${dice(1e6)}.jpg" srcset="/media/${name()}-480.jpg 480w, /media/${name()}-960.jpg 960w" loading="lazy" alt=""></div>\n` +
      `    <div class="card__body"><p>${sentenceFor(mix(key, card))}${dice(3) === 0 ? ` ${sentenceFor(mix(key, ~card))}` : ''}</p>` +
      `<span class="card__meta ${name()}"><svg width="12" height="12" aria-hidden="true"><path d="M${dice(12)} ${dice(12)}l${dice(9)} ${dice(9)}z"/></svg></span></div></div>\n`;
  }
  return `${html}<script>window.${word()}=window.${word()}||[];window.${word()}.push({id:"${name()}",at:${dice(1e9)},on:${dice(2) === 0}});</script></section>\n`;
};
