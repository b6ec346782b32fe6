/** What a page is made of, as parse5 sees it. */

import { type DefaultTreeAdapterTypes, parse } from 'parse5';

export interface PageCounts {
  readonly bytes: number;
  /** Visible text, with runs of space as one. */
  readonly textBytes: number;
  readonly scriptBytes: number;
  readonly tags: number;
  readonly attributes: number;
  readonly links: number;
}

export const countPage = (html: string): PageCounts => {
  const counts = { bytes: html.length, textBytes: 0, scriptBytes: 0, tags: 0, attributes: 0, links: 0 };
  const visit = (node: DefaultTreeAdapterTypes.ChildNode, inScript: boolean): void => {
    if (node.nodeName === '#text') {
      const { value } = node as DefaultTreeAdapterTypes.TextNode;
      if (inScript) counts.scriptBytes += value.length;
      else counts.textBytes += value.replace(/\s+/g, ' ').length;
      return;
    }
    if (!('childNodes' in node)) return;
    const element = node as DefaultTreeAdapterTypes.Element;
    counts.tags++;
    counts.attributes += element.attrs.length;
    if (element.tagName === 'a') counts.links++;
    const isScript = element.tagName === 'script' || element.tagName === 'style';
    for (const child of element.childNodes) visit(child, isScript);
  };
  for (const child of parse(html).childNodes) visit(child, false);
  return counts;
};
