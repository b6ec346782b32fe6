/** A self-signed certificate made on the spot, so that the small web can speak TLS with nothing installed. */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createClock } from '../lib/clock.ts';
import {
  BIT_STRING,
  der,
  derObjectId,
  derText,
  derTime,
  DNS_NAME,
  EXTENSIONS,
  INTEGER,
  OCTET_STRING,
  SEQUENCE,
  SET,
  UTF8_STRING,
  VERSION,
} from './der.ts';

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

const ECDSA_SHA256 = '1.2.840.10045.4.3.2'; // RFC 5758, 3.2
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const FIVE_YEARS_MS = 5 * 365 * 86_400_000;
/** A name field holds 64 characters at the most (RFC 5280, appendix A). */
const COMMON_NAME_MAX = 64;

/** EC P-256, for these DNS names, valid from five years ago to five years from now. */
export const selfSigned = (names: readonly string[]): SelfSigned => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = createClock().now();
  const algorithm = der(SEQUENCE, derObjectId(ECDSA_SHA256));
  const common = derText(UTF8_STRING, (names[0] ?? 'small web').slice(0, COMMON_NAME_MAX));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, derObjectId(COMMON_NAME), common)));
  const alternatives = der(SEQUENCE, ...names.map((dns) => derText(DNS_NAME, dns)));
  const extensions =
    names.length === 0
      ? []
      : [der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, derObjectId(SUBJECT_ALT_NAME), der(OCTET_STRING, alternatives))))];
  const serial = randomBytes(8);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40; // positive, and its first byte not zero
  const toSign = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))), // 2 stands for version 3
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, derTime(now - FIVE_YEARS_MS), derTime(now + FIVE_YEARS_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...extensions,
  );
  const signature = sign('sha256', toSign, privateKey);
  const cert = der(SEQUENCE, toSign, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert: pem('CERTIFICATE', cert) };
};

const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
