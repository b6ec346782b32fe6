/** An HTML page that a person may open: navigation, text, footer. */

import type { Prose } from './prose.ts';
import type { HrefLink, Sheet } from './sheet.ts';
import { escapeHtml, sheetOf } from './sheet.ts';
import { sentenceFor } from './prose.ts';
import { mix } from './random.ts';

export interface PageParts {
  readonly key: number;
  readonly title: string;
  readonly site: string;
  readonly links: readonly HrefLink[];
  /** More markup for the head element. */
  readonly head?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** About how large the page is to be; 0 for no more text than one sentence. */
  readonly bytes: number;
}

const STYLE =
  '<style>body{font:17px/1.6 Georgia,serif;max-width:42em;margin:2em auto;padding:0 1em;color:#333}' +
  'nav,footer{color:#777;border:solid #ddd;border-width:0 0 1px}footer{border-width:1px 0 0}a{color:#27638a}</style>';

/** Everything before the filler text, and everything after it. */
const frame = (parts: PageParts): { readonly opening: string; readonly closing: string } => {
  const title = escapeHtml(parts.title);
  let items = '';
  for (const link of parts.links) items += `<li>${link.markup}</li>\n`;
  return {
    opening:
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${parts.head ?? ''}${STYLE}</head>\n` +
      `<body><header>${escapeHtml(parts.site)}</header><main><h1>${title}</h1>\n<p>${sentenceFor(parts.key)}</p>\n` +
      `<nav><ul>\n${items}</ul></nav>\n`,
    closing: `</main><footer>${escapeHtml(parts.site)}, a page of the small web</footer></body></html>\n`,
  };
};

/** Pages are ASCII but for a few curios, so latin1 is their cheapest true encoding. */
const compose = (parts: PageParts, prose: Prose): Buffer => {
  const { opening, closing } = frame(parts);
  const wanted = Math.max(0, Math.round((parts.bytes - opening.length - closing.length) / prose.blockBytes));
  const chosen: Buffer[] = [];
  let bytes = opening.length + closing.length;
  for (let b = 0; b < wanted; b++) {
    const block = prose.blocks[mix(parts.key, b) % prose.blocks.length] as Buffer;
    chosen.push(block);
    bytes += block.length;
  }
  const body = Buffer.allocUnsafe(bytes);
  let at = body.write(opening, 0, 'latin1');
  for (const block of chosen) at += block.copy(body, at);
  body.write(closing, at, 'latin1');
  return body;
};

export const htmlText = (parts: PageParts): string => {
  const { opening, closing } = frame(parts);
  return opening + closing;
};

export const htmlSheet = (parts: PageParts, prose: Prose): Sheet =>
  sheetOf({
    headers: { 'content-type': 'text/html; charset=utf-8', ...parts.headers },
    links: parts.links,
    body: () => compose(parts, prose),
  });
