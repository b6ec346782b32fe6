/** A self-signed certificate for tests, written as DER with nothing but node:crypto. */

import { generateKeyPairSync, sign } from 'node:crypto';

export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

export const selfSigned = (name: string): KeyAndCertificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = sequence(tagged(0x31, sequence(oid([0x55, 0x04, 0x03]), tagged(0x0c, Buffer.from(name)))));
  const ecdsaWithSha256 = sequence(oid([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const alternativeNames = sequence(tagged(0x82, Buffer.from(name)), tagged(0x87, Buffer.from([127, 0, 0, 1])));
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
    tagged(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    issuer,
    sequence(tagged(0x17, Buffer.from('200101000000Z')), tagged(0x17, Buffer.from('491231235959Z'))),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(oid([0x55, 0x1d, 0x11]), tagged(0x04, alternativeNames)))),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, ecdsaWithSha256, tagged(0x03, Buffer.from([0]), signature));
  const lines =
    whole
      .toString('base64')
      .match(/.{1,64}/g)
      ?.join('\n') ?? '';
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
};

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
const oid = (bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes));
