/** Web Platform Tests, encoding: pages of characters, each in an element that says which one it must be. */

import { decodeBytes } from '../../src/parse/charset.ts';
import { compared, leftOut, type Case, type Suite } from './suite.ts';

/** `<span data-cp="4E00" data-bytes="B0 EC">` and the character itself. */
const SPAN = /<span[^>]*\bdata-cp="([0-9A-Fa-f +]+)"[^>]*>([^<]*)<\/span>/g;

export const legacyEncodings: Suite = {
  name: 'WPT, legacy encodings',
  from: 'https://github.com/web-platform-tests/wpt, encoding/legacy-mb-*',
  isMine: (path) => /(?:^|\/)legacy-mb-[^/]+\/.*_chars[^/]*\.html$/.test(path),
  *cases(file, bytes): Generator<Case> {
    const { text, charset } = decodeBytes({ bytes, contentType: '', html: true });
    if (!/charset/i.test(text.slice(0, 1_024)))
      return yield { name: file, verdict: leftOut('its encoding is in a header of its own') };
    for (const [, codePoints = '', content = ''] of text.matchAll(SPAN)) {
      const expected = codePoints
        .trim()
        .split(/[ +]+/)
        .map((hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
        .join('');
      yield { name: `${file}: ${codePoints} in ${charset}`, verdict: compared(content, expected) };
    }
  },
};
