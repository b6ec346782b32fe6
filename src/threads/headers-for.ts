/** Which headers of a person go to an address: those for all sites, and those of the rules for its host. */

import type { HeadersFor } from '../fetch/request-head.ts';
import { readHeader, type Header } from '../model/request-headers.ts';
import type { RuleInForce, SiteRules } from '../url/site-rules.ts';

/** One list for each set of headers: request heads are cached by the list. */
export const createHeadersFor = (texts: readonly string[], sites: SiteRules): HeadersFor => {
  const common = texts.map((text) => readHeader(text)!);
  if (sites.size === 0) return () => common;
  const lists = new Map<RuleInForce['headers'], readonly Header[]>([[undefined, common]]);
  return ({ hostname }) => {
    const { headers } = sites.of(hostname);
    const known = lists.get(headers);
    if (known) return known;
    const own = Object.entries(headers!);
    const names = new Set(own.map(([name]) => name.toLowerCase()));
    const list = [...common.filter(([name]) => !names.has(name.toLowerCase())), ...own];
    lists.set(headers, list);
    return list;
  };
};
