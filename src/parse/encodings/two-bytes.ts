/** Encodings of one or two bytes a character, by a table of all pairs (Encoding Standard, 12.1 and 14.1). */

/** What reads the text of one encoding. */
export interface Decoder {
  /** The encoding's name in the words of the Encoding Standard. */
  readonly encoding: string;
  decode(bytes: Uint8Array): string;
}

const LEAD_MIN = 0x81;
const LEAD_MAX = 0xfe;
const REPLACEMENT = 0xfffd;

/** What the pairs of bytes of an encoding mean: as text, which for a few are two characters; empty for nothing. */
export interface Pairs {
  get(lead: number, trail: number): string;
  set(lead: number, trail: number, text: string): void;
}

const createPairs = (): Pairs & { readonly units: Uint16Array } => {
  // Two UTF-16 units for each; the second is 0 for most.
  const units = new Uint16Array((LEAD_MAX - LEAD_MIN + 1) * 512);
  return {
    units,
    get: (lead, trail) => {
      const at = placeOf(lead, trail);
      return String.fromCharCode(...units.subarray(at, at + 2)).replaceAll('\0', '');
    },
    set: (lead, trail, text) => {
      const at = placeOf(lead, trail);
      units[at] = text.length > 0 ? text.charCodeAt(0) : 0;
      units[at + 1] = text.length > 1 ? text.charCodeAt(1) : 0;
    },
  };
};

const placeOf = (lead: number, trail: number): number => (lead - LEAD_MIN) * 512 + trail * 2;

/**
 * A decoder that begins with what Node's decoder of that name knows, and then is set right. Nothing is done before the
 * first text is decoded: most crawls never see one.
 */
export const createTwoByteDecoder = (encoding: string, setRight: (pairs: Pairs) => void): Decoder => {
  let table: Uint16Array | null = null;
  const fill = (): Uint16Array => {
    const pairs = createPairs();
    const former = new TextDecoder(encoding);
    for (let lead = LEAD_MIN; lead <= LEAD_MAX; lead += 1) {
      for (let trail = 0x40; trail <= 0xfe; trail += 1) {
        const text = former.decode(Uint8Array.of(lead, trail));
        if (/^[^\ufffd\ue000-\uf8ff]$/u.test(text)) pairs.set(lead, trail, text);
      }
    }
    setRight(pairs);
    return pairs.units;
  };
  return { encoding, decode: (bytes) => decodePairs(bytes, (table ??= fill())) };
};

const decodePairs = (bytes: Uint8Array, table: Uint16Array): string => {
  const out = new Uint16Array(bytes.length); // no byte makes more than one unit
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at]!;
    if (lead < 0x80) {
      out[length++] = lead;
      continue;
    }
    const trail = bytes[at + 1];
    const isLead = lead >= LEAD_MIN && lead <= LEAD_MAX && trail !== undefined;
    const place = isLead ? placeOf(lead, trail) : 0;
    const unit = isLead ? table[place]! : 0;
    if (unit === 0) {
      out[length++] = REPLACEMENT;
      // A byte of ASCII after a lead that it does not fit is itself: it may begin a tag.
      if (isLead && trail >= 0x80) at += 1;
      continue;
    }
    out[length++] = unit;
    const second = table[place + 1]!;
    if (second !== 0) out[length++] = second;
    at += 1;
  }
  return Buffer.from(out.buffer, 0, length * 2).toString('utf16le');
};
