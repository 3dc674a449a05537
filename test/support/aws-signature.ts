import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/** The hash function that AWS's implementation takes as an argument. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    if (secret === undefined) this.#hash = createHash('sha256');
    else this.#hash = createHmac('sha256', typeof secret === 'string' ? secret : bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {}
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

export interface AwsRequest {
  readonly keys: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly region: string;
  /** Bedrock and POST, when absent. */
  readonly service?: 's3';
  readonly method?: string;
  /** Host with its port; path as it is sent. */
  readonly host: string;
  readonly path: string;
  readonly query: Record<string, string>;
  /** Headers to sign besides the host. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly at: Date;
}

/** The headers of a signed request, by AWS's own implementation: a second opinion. */
export async function awsProof({
  keys,
  region,
  service,
  method = 'POST',
  host,
  path,
  query,
  headers,
  body,
  at,
}: AwsRequest): Promise<Record<string, string>> {
  const storage = { service: 's3', applyChecksum: true, uriEscapePath: false };
  const rules = service === 's3' ? storage : { service: 'bedrock', applyChecksum: false };
  const oracle = new SignatureV4({ credentials: keys, region, sha256: Sha256, ...rules });
  const request = {
    method,
    protocol: 'https:',
    hostname: host,
    path,
    query,
    headers: { ...headers, host },
    body,
  };
  return (await oracle.sign(request, { signingDate: at })).headers;
}
