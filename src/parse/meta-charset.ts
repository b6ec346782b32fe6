/** The encoding that a page names in a meta element, found before the page can be read (HTML standard, 13.2.3.2). */

import { charsetParameter, encodingDeclared } from './encodings/labels.ts';
import {
  type Attributes,
  attributeValue,
  CHARSET,
  CONTENT,
  createAttributes,
  has,
  HTTP_EQUIV,
  readAttributes,
} from './html/attributes.ts';
import { bogusEnd, commentEnd, rawTextEnd, scriptEnd } from './html/skip.ts';
import { RAW, tagAt } from './html/tags.ts';
import { opensMarkup } from './html/text.ts';

/**
 * A browser that comes across a declaration later, while it parses, begins anew. The standard sets no end to that; this
 * is room for a head with its styles and scripts.
 */
const LATE_BYTES = 128 * 1024;

/** What the first meta element that names an encoding names, in either of its two forms; null when none does. */
export const metaCharset = (head: string): string | null => search(head, false);

/** The encoding that a meta element names further on in the page; one within a script or other raw text is none. */
export const lateMetaCharset = (page: Buffer): string | null => {
  const text = page.toString('latin1', 0, LATE_BYTES);
  return MAY_DECLARE.test(text) ? search(text, true) : null;
};

/** Spares most pages the search. Stops at every `<`, so it looks at nothing twice. */
const MAY_DECLARE = /<meta[\s/][^<]*charset/i;

const search = (text: string, skipsRawText: boolean): string | null => {
  const attributes = createAttributes(text);
  let at = text.indexOf('<');
  while (at >= 0 && at < text.length) {
    const code = text.charCodeAt(at + 1);
    let end = at + 1;
    if (text.startsWith('!--', at + 1)) end = commentEnd(text, at + 4);
    else if (code === BANG || code === QUESTION) end = bogusEnd(text, at + 2);
    else if (opensMarkup(code)) {
      const nameEnd = nameEndAt(text, at + 1);
      const tag = tagAt(text, at + 1, nameEnd);
      const isMeta = tag.name === 'meta';
      readAttributes(attributes, nameEnd, isMeta);
      if (attributes.end < 0) return null;
      end = attributes.end;
      const charset = isMeta ? encodingDeclared(labelOf(attributes)) : null;
      if (charset !== null) return charset;
      if (skipsRawText && (tag.flags & RAW) !== 0)
        end = tag.name === 'script' ? scriptEnd(text, end) : rawTextEnd(text, end, tag.name);
    }
    at = text.indexOf('<', end);
  }
  return null;
};

const BANG = 33;
const QUESTION = 63;

const NAME = /\/?[^\s/>]*/y;

const nameEndAt = (text: string, from: number): number => {
  NAME.lastIndex = from;
  NAME.test(text);
  return NAME.lastIndex;
};

const labelOf = (tag: Attributes): string => {
  if (has(tag, CHARSET)) return attributeValue(tag, CHARSET);
  return attributeValue(tag, HTTP_EQUIV).toLowerCase() === 'content-type'
    ? charsetParameter(attributeValue(tag, CONTENT))
    : '';
};
