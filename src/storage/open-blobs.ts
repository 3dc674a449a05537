import { fileURLToPath } from 'node:url';
import type { Env } from '../base/env.ts';
import type { AwsKeys } from '../base/sigv4.ts';
import type { Clock } from '../base/clock.ts';
import type { Blobs } from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import type { S3Place } from './s3-blobs.ts';

/** Where blobs are kept: a folder's path, or a bucket. */
export type BlobPlace = string | S3Place;

/** The client of buckets is loaded only where a bucket is used. */
export async function openBlobs(place: BlobPlace, clock: Clock): Promise<Blobs> {
  if (typeof place === 'string') return openFolderBlobs(place);
  const { openS3Blobs } = await import('./s3-blobs.ts');
  return openS3Blobs(place, clock);
}

/** How S3 is addressed: `host`, the bucket is a part of the host's name; `path`, of the path. */
const styles = ['host', 'path'];
const members = ['region', 'endpoint', 'style'];

/**
 * Reads `s3://BUCKET/PREFIX?region=…&endpoint=…&style=host|path`, `file:///folder` or the path of a
 * folder. Keys come in the address (`s3://KEY:SECRET@…`), else from AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Returns an Error that tells the operator what is
 * wrong, without any secret.
 */
export function blobPlace(text: string, env: Env): BlobPlace | Error {
  if (text.startsWith('file:')) return folderAt(text);
  if (!/^\w{2,}:/.test(text)) return text;
  const url = text.startsWith('s3://') && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '')
    return new Error('is neither a folder nor an address such as s3://bucket/prefix');
  if (!/^[\w./-]*$/.test(url.pathname))
    return new Error('has a prefix with other signs than letters, digits and . _ - /');
  const keys = keysOf(url, env);
  if (keys === undefined)
    return new Error(
      'needs keys: s3://KEY:SECRET@bucket, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  const other = [...url.searchParams.keys()].find((name) => !members.includes(name));
  if (other !== undefined)
    return new Error(`has a parameter '${other}', and only ${members.join(', ')} are known`);
  const region = url.searchParams.get('region') ?? env['AWS_REGION'] ?? 'us-east-1';
  const endpoint = url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(endpoint))
    return new Error('has an endpoint that is no address such as https://host:9000');
  // A bucket name with dots fits no certificate. Stores other than Amazon's use the path by
  // default.
  const style =
    url.searchParams.get('style') ??
    (url.searchParams.has('endpoint') || url.hostname.includes('.') ? 'path' : 'host');
  if (!styles.includes(style)) return new Error(`has a style that is none of ${styles.join(', ')}`);
  return {
    bucketUrl: bucketUrl(url.hostname, endpoint.replace(/\/$/, ''), style),
    prefix: prefixOf(url.pathname),
    region,
    keys,
  };
}

function folderAt(address: string): string | Error {
  try {
    return fileURLToPath(address);
  } catch {
    return new Error('is not an address such as file:///var/lib/media');
  }
}

function keysOf({ username, password }: URL, env: Env): AwsKeys | undefined {
  const accessKeyId = decoded(username) || env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = decoded(password) || env['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: username === '' ? env['AWS_SESSION_TOKEN'] || undefined : undefined,
  };
}

/** A `%` that stands for itself stays what it is. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (signs) =>
    Buffer.from(signs.replaceAll('%', ''), 'hex').toString(),
  );

const bucketUrl = (bucket: string, endpoint: string, style: string): string =>
  style === 'path' ? `${endpoint}/${bucket}` : endpoint.replace('://', `://${bucket}.`);

/** Nothing, or folders that end in `/`. */
const prefixOf = (path: string): string => path.replace(/^\/+|\/+$/g, '').replace(/.$/, '$&/');
