// A hooks module: what `hooks.ts` beside it gives to the crawl. It is loaded in the threads of the crawl.
// From the command line: gossamer crawl seeds.txt --email you@example.org --hooks my-hooks.ts

import type { HookLink, HookPage } from 'gossamer';

/** Only links without a query are followed. */
export const accept = ({ url }: HookLink): boolean => !url.includes('?');

/** How many words each page has, and how many links to other hosts. For elements by selectors see shop-prices.ts. */
export const extract = ({ url, text, links }: HookPage) => ({
  words: text.split(/\s+/).filter(Boolean).length,
  linksAway: links.filter((link) => new URL(link).host !== new URL(url).host).length,
});
