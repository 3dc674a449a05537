import { describe, expect, test } from 'vitest';
import { blobPlace } from './open-blobs.ts';

const keys = { accessKeyId: 'AK', secretAccessKey: 's/+ü:%', sessionToken: undefined };
const env = {
  AWS_ACCESS_KEY_ID: 'ENVKEY',
  AWS_SECRET_ACCESS_KEY: 'envsecret',
  AWS_SESSION_TOKEN: 'token',
  AWS_REGION: 'eu-west-3',
};
const fromEnv = { accessKeyId: 'ENVKEY', secretAccessKey: 'envsecret', sessionToken: 'token' };

describe('where blobs are kept', () => {
  test.each([
    ['/var/lib/media', '/var/lib/media'],
    ['media', 'media'],
    ['C:\\media', 'C:\\media'],
    ['file:///var/my%20media', '/var/my media'],
  ])('the folder %s', (text, folder) => {
    expect(blobPlace(text, {})).toBe(folder);
  });

  test.each([
    [
      's3://AK:s%2F+%C3%BC:%25@bucket',
      {},
      'https://bucket.s3.us-east-1.amazonaws.com',
      '',
      'us-east-1',
      keys,
    ],
    [
      's3://AK:s%2F+%C3%BC:%@bucket/',
      { AWS_SESSION_TOKEN: 't' },
      'https://bucket.s3.us-east-1.amazonaws.com',
      '',
      'us-east-1',
      keys,
    ],
    [
      's3://bucket/a/b',
      env,
      'https://bucket.s3.eu-west-3.amazonaws.com',
      'a/b/',
      'eu-west-3',
      fromEnv,
    ],
    [
      's3://bucket/a/../b/',
      env,
      'https://bucket.s3.eu-west-3.amazonaws.com',
      'b/',
      'eu-west-3',
      fromEnv,
    ],
    [
      's3://my.bucket?region=ap-east-1',
      env,
      'https://s3.ap-east-1.amazonaws.com/my.bucket',
      '',
      'ap-east-1',
      fromEnv,
    ],
    [
      's3://bucket/x?endpoint=http://minio:9000',
      env,
      'http://minio:9000/bucket',
      'x/',
      'eu-west-3',
      fromEnv,
    ],
    [
      's3://bucket?endpoint=https://oss.example.com/&style=host',
      env,
      'https://bucket.oss.example.com',
      '',
      'eu-west-3',
      fromEnv,
    ],
  ])('the bucket of %s', (text, given, bucketUrl, prefix, region, expected) => {
    expect(blobPlace(text, given)).toEqual({ bucketUrl, prefix, region, keys: expected });
  });

  test.each([
    ['https://bucket', 'is neither a folder nor an address'],
    ['gs://bucket', 'is neither a folder nor an address'],
    ['file://data/media', 'is not an address such as file:///var/lib/media'],
    ['file:///data%2Fmedia', 'is not an address such as file:///var/lib/media'],
    ['file://[', 'is not an address such as file:///var/lib/media'],
    ['s3://', 'is neither a folder nor an address'],
    ['s3:///folder', 'is neither a folder nor an address'],
    ['s3://bucket/a b', 'has a prefix with other signs'],
    ['s3://bucket/a%2e', 'has a prefix with other signs'],
    ['s3://bucket?regoin=x', "has a parameter 'regoin'"],
    ['s3://bucket?endpoint=minio:9000', 'has an endpoint that is no address'],
    ['s3://bucket?endpoint=http://minio:9000/base', 'has an endpoint that is no address'],
    ['s3://bucket?style=virtual', 'has a style that is none of host, path'],
  ])('nowhere: %s', (text, why) => {
    expect(blobPlace(text, env)).toMatchObject({ message: expect.stringContaining(why) });
  });

  test('nowhere without keys, or with half of them', () => {
    for (const text of ['s3://bucket', 's3://AK@bucket'])
      expect(blobPlace(text, {})).toMatchObject({ message: expect.stringMatching(/^needs keys/) });
  });
});
