import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A key and its certificate, PEM. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateWish {
  readonly name: string;
  /** IPv4 address or DNS name that it is for. */
  readonly host: string;
  readonly notAfter: Date;
  /** Who signs it; absent: it signs itself. */
  readonly issuer?: Authority;
}

export interface Authority extends Certified {
  readonly name: string;
  readonly privateKey: KeyObject;
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length =
    content.length < 128
      ? Buffer.from([content.length])
      : Buffer.from([0x82, content.length >> 8, content.length & 0xff]);
  return Buffer.concat([Buffer.from([tag]), length, content]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
const moment = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`));
const extension = (hex: string, value: Buffer): Buffer => sequence(objectId(hex), der(0x04, value));
const ecdsaSha256 = sequence(objectId('2a8648ce3d040302'));
const pem = (type: string, bytes: Buffer): string =>
  `-----BEGIN ${type}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${type}-----\n`;

/** An X.509 certificate (RFC 5280) with a fresh key, as a server of a test shows it. */
export function certificate(
  { name, host, notAfter, issuer }: CertificateWish,
  authority = false,
): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ip = /^[\d.]+$/.test(host);
  const subject = ip
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host));
  const constraints = authority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence();
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0x01]), randomBytes(8)),
    ecdsaSha256,
    named(issuer?.name ?? name),
    sequence(moment(new Date('2020-01-01')), moment(notAfter)),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension('551d11', sequence(subject)), extension('551d13', constraints))),
  );
  const signature = sign('sha256', signed, issuer?.privateKey ?? privateKey);
  const cert = pem(
    'CERTIFICATE',
    sequence(signed, ecdsaSha256, der(0x03, Buffer.from([0]), signature)),
  );
  return {
    name,
    privateKey,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert,
  };
}
