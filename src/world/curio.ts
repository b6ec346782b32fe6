/** The shape of a curio: one odd thing on one page, or on a few, of an otherwise healthy site. */

import type { WorldPlan } from './plan.ts';
import type { Prose } from './prose.ts';
import type { HrefLink, Sheet } from './sheet.ts';
import type { Site } from './sites.ts';
import { anchor } from './sheet.ts';
import { htmlSheet } from './page.ts';
import { mix } from './random.ts';

/** Where a curio stands. */
export interface Place {
  readonly plan: WorldPlan;
  readonly prose: Prose;
  readonly site: Site;
  /** The main origin of the site: curios live nowhere else. */
  readonly origin: string;
  /** The URL of the curio itself; further paths begin with it. */
  readonly home: string;
  /** The front page of another site, which is a seed. */
  readonly away: string;
}

export interface Curio {
  readonly name: string;
  readonly about: string;
  /** What the front page of the site says about it. */
  entries(place: Place): readonly HrefLink[];
  /** What follows `home` in the request, or null when there is nothing at this path. */
  sheet(place: Place, rest: string): Sheet | null;
}

export const CURIOS_PATH = '/curios/';

/** An address as a page of its own site may write it. */
export const path = (url: string): string => new URL(url).pathname;

/** A curio whose entry is one ordinary link. */
export const curio = (name: string, about: string, sheet: Curio['sheet']): Curio => ({
  name,
  about,
  entries: (place) => [anchor(place.home, about, place.home.slice(place.origin.length))],
  sheet,
});

/** A small page. */
export const curioPage = (
  place: Place,
  title: string,
  more: {
    readonly links?: readonly HrefLink[];
    readonly head?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Sheet =>
  htmlSheet(
    { key: mix(place.site.index, title.length), title, site: place.site.name, bytes: 0, links: [], ...more },
    place.prose,
  );

/** A page that carries links, and the leaf each of them leads to, which is linked from nowhere else. */
export const pageWithLeaves = (
  name: string,
  about: string,
  make: (
    place: Place,
    leaf: string,
  ) => { readonly links: readonly HrefLink[]; readonly head?: string; readonly headers?: Record<string, string> },
): Curio =>
  curio(name, about, (place, rest) => {
    const made = make(place, `${place.home}/leaf`);
    if (rest === '') return curioPage(place, about, made);
    const known = made.links.some((link) => link.to === place.home + rest);
    return known ? curioPage(place, `A leaf: ${about}`, { links: [anchor(`${place.origin}/`, 'home')] }) : null;
  });
