/** How the crawl names itself to sites. */

import type { Settings } from '../model/settings.ts';
import { VERSION } from '../folder/version.ts';

type Named = Pick<Settings, 'userAgent' | 'email'>;

const productOf = ({ userAgent }: Named): string => userAgent || `Gossamer/${VERSION}`;

/** The header: the product, and always the contact. */
export const userAgentOf = (settings: Named): string => `${productOf(settings)} (+contact; ${settings.email})`;

/** The name that robots.txt speaks to. */
export const productTokenOf = (settings: Named): string => productOf(settings).split('/')[0]!.toLowerCase();
