/** The few forms of DER (X.690) that a certificate is written in. */

export const INTEGER = 0x02;
export const BIT_STRING = 0x03;
export const OCTET_STRING = 0x04;
export const OBJECT_ID = 0x06;
export const UTF8_STRING = 0x0c;
export const UTC_TIME = 0x17;
export const GENERALIZED_TIME = 0x18;
export const SEQUENCE = 0x30;
export const SET = 0x31;
/** [0] and [3] of a certificate, which wrap a value of their own. */
export const VERSION = 0xa0;
export const EXTENSIONS = 0xa3;
/** [2] of a GeneralName: a DNS name. */
export const DNS_NAME = 0x82;

/** Tag, length, contents. */
export const der = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), body]);
};

export const derText = (tag: number, text: string): Buffer => der(tag, Buffer.from(text, 'utf8'));

/** An object identifier such as `1.2.840...`: the first two numbers share a byte, the others take seven bits a byte. */
export const derObjectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const number of rest) {
    const septets = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      septets.unshift(0x80 | (left % 128));
    bytes.push(...septets);
  }
  return der(OBJECT_ID, Buffer.from(bytes));
};

/** RFC 5280, 4.1.2.5: two digits for the year up to 2049, four from then on. */
export const derTime = (ms: number): Buffer => {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '');
  return digits < '2050' ? derText(UTC_TIME, digits.slice(2)) : derText(GENERALIZED_TIME, digits);
};
