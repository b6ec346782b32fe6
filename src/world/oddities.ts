/** Everything odd that a world has, in one table, and which site carries what. */

import type { Curio } from './curio.ts';
import { BODY_CURIOS } from './curios-bodies.ts';
import { ELSEWHERE_CURIOS } from './curios-elsewhere.ts';
import { FEED_CURIOS } from './curios-feeds.ts';
import { LINK_CURIOS } from './curios-links.ts';
import { MOVE_CURIOS, TRAP_CURIOS, TROUBLE_CURIOS } from './curios-moves.ts';
import type { Site } from './sites.ts';
import { TRAITS } from './traits.ts';

const GENTLE: readonly Curio[] = [
  ...LINK_CURIOS,
  ...ELSEWHERE_CURIOS,
  ...FEED_CURIOS,
  ...BODY_CURIOS,
  ...MOVE_CURIOS,
  ...TRAP_CURIOS,
];
const BY_NAME: ReadonlyMap<string, Curio> = new Map([...GENTLE, ...TROUBLE_CURIOS].map((curio) => [curio.name, curio]));

/** A site of a large world carries this many; in a small one more, so that each is somewhere. */
const CURIOS_PER_SITE = 3;

/** The curios of a site, in a world with that many sites that can carry them. */
export const curiosOf = (site: Site, carriers: number): readonly Curio[] => {
  if (site.ordinal < 0) return [];
  const count = Math.max(CURIOS_PER_SITE, Math.ceil(GENTLE.length / carriers));
  const chosen = Array.from({ length: count }, (_, n) => GENTLE[(site.ordinal * count + n) % GENTLE.length] as Curio);
  // One after the other in the first sites; after those, half of all sites are spared.
  const trouble =
    TROUBLE_CURIOS[
      site.ordinal % (site.ordinal < TROUBLE_CURIOS.length ? TROUBLE_CURIOS.length : TROUBLE_CURIOS.length * 2)
    ];
  return trouble ? [...chosen, trouble] : chosen;
};

export const curioNamed = (name: string): Curio | null => BY_NAME.get(name) ?? null;

export interface Oddity {
  readonly name: string;
  /** `site`: all of a site is like this. `page`: found at `/curios/<name>` of some sites. */
  readonly where: 'site' | 'page';
  readonly about: string;
}

/** The table for the documentation. */
export const oddities = (): readonly Oddity[] => [
  ...Object.entries(TRAITS).map(([name, { about }]): Oddity => ({ name, where: 'site', about })),
  ...[...BY_NAME.values()].map(({ name, about }): Oddity => ({ name, where: 'page', about })),
];
