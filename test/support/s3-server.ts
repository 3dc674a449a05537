// @ts-expect-error: the package has no types.
import S3rver from '@20minutes/s3rver';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { S3Place } from '../../src/storage/s3-blobs.ts';
import { temporaryFolder } from './file-store.ts';

interface S3Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/**
 * A bucket of another project's S3 server, which checks signatures with its own code. Stopped with
 * the test.
 */
export async function startBucket(prefix = ''): Promise<S3Place> {
  const directory = await temporaryFolder();
  const options = {
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'generated' }],
  };
  const server = new (S3rver as new (options: unknown) => S3Server)(options);
  const { port } = await server.run();
  onTestFinished(() => server.close());
  const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', sessionToken: undefined };
  return { bucketUrl: `http://127.0.0.1:${port}/generated`, prefix, region: 'eu-central-1', keys };
}
