import { expect, test } from 'vitest';
import type { VendorContext, UnsignedRequest } from '../vendor.ts';
import { bedrock } from './bedrock.ts';

const context: VendorContext = {
  now: () => Date.UTC(2026, 10, 21),
  post: () => Promise.reject(new Error('nothing is fetched')),
};
const outgoing = (host: string): UnsignedRequest => ({
  method: 'POST',
  url: `https://${host}/model/a%3A0/converse`,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
});

test('an API key is sent as it is, and nothing is made of the request', () => {
  expect(bedrock.sign('ABSKsecret')).toEqual({ authorization: 'Bearer ABSKsecret' });
  expect(bedrock.authorizer?.('ABSKsecret', context)).toBeUndefined();
});

test.each([
  ['bedrock-runtime.eu-central-1.amazonaws.com', 'eu-central-1'],
  ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['vpce-0a-1b.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com', 'ap-southeast-2'],
  ['bedrock.internal:8443', 'us-east-1'],
])('a key pair signs every request for the region of %s', async (host, region) => {
  const secret = 'ASIAIOSFODNN7EXAMPLE:wJalr/XUt+nFEMI:session/token=';
  expect(bedrock.sign(secret)).toEqual({});
  const proof = await bedrock.authorizer?.(secret, context)?.(outgoing(host));
  expect(proof).toMatchObject({
    headers: { 'x-amz-date': '20261121T000000Z', 'x-amz-security-token': 'session/token=' },
  });
  expect(JSON.stringify(proof)).toContain(
    `ASIAIOSFODNN7EXAMPLE/20261121/${region}/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token`,
  );
  expect(JSON.stringify(proof)).not.toContain('wJalr');
});
