// A hooks module: what `hooks.ts` beside it gives to the crawl. It is loaded in the threads of the crawl.
// From the command line: gossamer crawl seeds.txt --email you@example.org --hooks my-hooks.ts

import type { HookLink, HookPage } from 'gossamer';

/** Only links without a query are followed. */
export const accept = ({ url }: HookLink): boolean => !url.includes('?');

/** The headings of each page, and how many words it has. */
export const extract = ({ html, text }: HookPage) => ({
  headings: [...html.matchAll(/<h[1-3][^>]*>(.*?)<\/h[1-3]>/gis)].map(([, inner = '']) =>
    inner.replace(/<[^>]*>/g, '').trim(),
  ),
  words: text.split(/\s+/).filter(Boolean).length,
});
