/** The scope that the settings of a crawl make, with what is read from its files: one way for all who judge links. */

import { bodyTypesOf, TEXT_KINDS } from '../model/body-types.ts';
import type { Settings } from '../model/settings.ts';
import type { Homes } from './homes.ts';
import { createPatterns } from './link-patterns.ts';
import { createScope, type Scope } from './scope.ts';
import type { SiteSet } from './site-set.ts';

/** A crawl that an earlier version made lacks some of them. */
type Rules = Pick<Settings, 'maxDepth'> & Partial<Pick<Settings, 'include' | 'exclude' | 'types'>>;

export const scopeOf = (settings: Rules, homes: (() => Homes) | null, excluded: SiteSet | null): Scope =>
  createScope({
    depthMax: settings.maxDepth,
    homes,
    excluded,
    exclude: createPatterns(settings.exclude ?? []),
    include: createPatterns(settings.include ?? []),
    wantsEnding: bodyTypesOf(settings.types ?? TEXT_KINDS).wantsEnding,
  });
