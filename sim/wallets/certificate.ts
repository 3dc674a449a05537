import { createSign } from 'node:crypto';
import type { Pair } from './keys.ts';

/** DER: a tag, the length of the content, and the content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
/** sha256WithRSAEncryption */
const algorithm = sequence(objectId('2a864886f70d01010b'), der(0x05));
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name, 'utf8')))));
const utcTime = (at: number): Buffer =>
  der(
    0x17,
    Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`, 'latin1'),
  );

/** A self-signed certificate for ten years (RFC 5280), in PEM. `serial`: hexadecimal. */
export function certificateOf(
  { privateKey, publicKey }: Pair,
  serial: string,
  name: string,
  at: number,
): string {
  const facts = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from(serial, 'hex')),
    algorithm,
    named(name),
    sequence(utcTime(at - 86_400_000), utcTime(at + 3_650 * 86_400_000)),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('RSA-SHA256').update(facts).sign(privateKey);
  const whole = sequence(facts, algorithm, der(0x03, Buffer.from([0]), signature)).toString(
    'base64',
  );
  return `-----BEGIN CERTIFICATE-----\n${whole.match(/.{1,64}/g)?.join('\n') ?? ''}\n-----END CERTIFICATE-----\n`;
}
