/** The encodings of the Encoding Standard by their labels, and where text names one. */

import { TextDecoder } from 'node:util';
import { BIG5 } from './big5.ts';
import { EUC_KR } from './euc-kr.ts';
import type { Decoder } from './two-bytes.ts';

/** A label longer than this names no encoding. */
const LABEL_CHARS_MAX = 64;

/** Encodings that Node reads otherwise than the standard, and so than browsers. */
const OWN: Readonly<Record<string, Decoder>> = { 'euc-kr': EUC_KR, big5: BIG5 };

const DECODERS = new Map<string, Decoder | null>();
/** Labels come from the web: those that name nothing are not kept without end. The standard has 228. */
const DECODERS_MAX = 512;

/** The decoder of the encoding with this label, in lower case; null when there is none. */
export const decoderOf = (label: string): Decoder | null => {
  const kept = DECODERS.get(label);
  if (kept !== undefined) return kept;
  let decoder: Decoder | null = null;
  try {
    const known = new TextDecoder(label);
    decoder = OWN[known.encoding] ?? known;
  } catch {
    // No encoding of the standard has this label.
  }
  if (DECODERS.size < DECODERS_MAX) DECODERS.set(label, decoder);
  return decoder;
};

/** The name of the encoding that a label means; null when it means none. */
export const encodingNamed = (label: string): string | null => {
  const clean = label.trim().toLowerCase();
  if (clean === '' || clean.length > LABEL_CHARS_MAX) return null;
  return decoderOf(clean)?.encoding ?? null;
};

/** The name of the encoding that a text declares itself: what could be read as ASCII cannot be UTF-16. */
export const encodingDeclared = (label: string): string | null => {
  if (label.trim().toLowerCase() === 'x-user-defined') return 'windows-1252'; // HTML standard, prescan
  const name = encodingNamed(label);
  return name?.startsWith('utf-16') ? 'utf-8' : name;
};

/** The value after `charset=`, in a Content-Type or the content of a meta element. */
export const charsetParameter = (value: string): string =>
  /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/i
    .exec(value)
    ?.slice(1)
    .find((label) => label !== undefined) ?? '';
