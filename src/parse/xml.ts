/** The text of an XML document: what stands between its tags, each on a line of its own. */

import { bogusEnd, commentEnd } from './html/skip.ts';
import { createTextSink, leaveGap, LINE_GAP, opensMarkup, readText } from './html/text.ts';

export const xmlText = (source: string): string => {
  const sink = createTextSink();
  let at = 0;
  while (at < source.length) {
    if (source.startsWith('<![CDATA[', at)) {
      const close = source.indexOf(']]>', at + 9);
      const to = close < 0 ? source.length : close;
      readText(sink, source, { from: at + 9, to, markup: false, preformatted: false });
      at = to + 3;
    } else if (source.startsWith('<!--', at)) {
      at = commentEnd(source, at + 4);
    } else if (source.charCodeAt(at) === 60 && opensMarkup(source.charCodeAt(at + 1))) {
      leaveGap(sink, LINE_GAP);
      at = bogusEnd(source, at + 1);
    } else {
      at = readText(sink, source, { from: at, to: source.length, markup: true, preformatted: false });
    }
  }
  return sink.out;
};

/** The text of a page that has no markup: its lines stay, its control characters do not. */
export const plainText = (source: string): string => {
  const sink = createTextSink();
  readText(sink, source, { from: 0, to: source.length, markup: false, preformatted: true });
  return sink.out;
};
