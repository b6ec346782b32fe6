/** How large pages are and what they are made of, so that a benchmark costs what real pages cost. */

import { diceFor } from './random.ts';

/** A quantity that differs from page to page as a lognormal one does: most are small, a few are very large. */
export interface Spread {
  readonly mean: number;
  readonly median: number;
}

export interface PageShape {
  readonly bytes: Spread;
  /** Bytes of visible text, the words of links included. */
  readonly textBytes: Spread;
  /** Start tags. */
  readonly tags: Spread;
  readonly attributes: Spread;
  readonly links: Spread;
  /** The part of all bytes that is inside script and style elements. */
  readonly scriptShare: number;
  /** Links that every page of a site has: its navigation. */
  readonly navigation: number;
  /** The part of the other links that repeats one of the same page: picture, headline and "more" lead to one place. */
  readonly repeated: number;
}

/** Everything about a page follows its size: one draw decides how far out it lies in each of the spreads. */
export interface DrawnShape {
  readonly bytes: number;
  readonly textBytes: number;
  readonly tags: number;
  readonly attributes: number;
  readonly links: number;
}

export type ShapeName = 'text' | 'real';

export const SHAPES: Readonly<Record<ShapeName, PageShape>> = {
  /** Half of it text, as in articles and documentation. Only the size has a known median; the rest follows the size. */
  text: {
    bytes: { mean: 58_000, median: 32_000 },
    textBytes: { mean: 29_000, median: 16_000 },
    tags: { mean: 835, median: 461 },
    attributes: { mean: 708, median: 391 },
    links: { mean: 43, median: 35 },
    scriptShare: 0,
    navigation: 5,
    repeated: 0.2,
  },
  /** Counted on 922 pages of news sites and blogs in 2026. */
  real: {
    bytes: { mean: 146_000, median: 96_000 },
    textBytes: { mean: 10_800, median: 8_100 },
    tags: { mean: 884, median: 727 },
    attributes: { mean: 1_329, median: 1_117 },
    links: { mean: 156, median: 122 },
    scriptShare: 0.41,
    navigation: 12,
    repeated: 0.7,
  },
};

/** Beyond this many deviations a page would be larger than what a crawler reads by default. */
const DEVIATIONS_MAX = 3;

/** A draw from the normal distribution, by Box and Muller's transform, from two numbers in (0, 1]. */
const normal = (u: number, v: number): number => {
  const z = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  return Math.max(-DEVIATIONS_MAX, Math.min(DEVIATIONS_MAX, z));
};

const at = ({ mean, median }: Spread, z: number): number =>
  median * Math.exp(Math.sqrt(2 * Math.log(mean / median)) * z);

/** The quantities of the page with this key. */
export const drawShape = (shape: PageShape, key: number): DrawnShape => {
  const dice = diceFor(key);
  const z = normal((dice(1e6) + 1) / 1e6, (dice(1e6) + 1) / 1e6);
  return {
    bytes: at(shape.bytes, z),
    textBytes: at(shape.textBytes, z),
    tags: at(shape.tags, z),
    attributes: at(shape.attributes, z),
    links: Math.round(at(shape.links, z)),
  };
};
