/** What the links of a page are relative to. */

import { hasEndlessAuthority } from '../url/authority.ts';

/** HTML standard, 4.2.3: a base that cannot be read, or is a data: or javascript: URL, counts for nothing. */
export const resolveBase = (href: string | null, url: string): string => {
  const base = href === null || hasEndlessAuthority(href) ? null : URL.parse(href, url);
  return base === null || base.protocol === 'data:' || base.protocol === 'javascript:' ? url : base.href;
};
