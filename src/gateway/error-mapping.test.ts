import { expect, test } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { refusalFor, shownMessage } from './error-mapping.ts';

const channel = {
  secret: 'sk-proj-Zq81hTyW0pLmN4vR',
  moreSecrets: ['second-key-of-ours-7731'],
  baseUrl: 'https://llm.inner.example:8443/team-a/v1',
};

const hidden: readonly (readonly [string, string])[] = [
  [
    'The model `x` does not exist in organization org-9aBcDeFgHiJk.',
    'The model `x` does not exist in organization ***.',
  ],
  [
    "Organization 'Acme Trading Ltd' must be verified to use this model.",
    'Organization *** must be verified to use this model.',
  ],
  [
    'Limit reached for organization: acme-trading on requests',
    'Limit reached for organization: *** on requests',
  ],
  [
    'Rejected for project proj_Ab12Cd34Ef56 in workspace id 51f0c2d4',
    'Rejected for project *** in workspace id ***',
  ],
  ['Account 123456789012 has no access', 'Account *** has no access'],
  ['denied: arn:aws:bedrock:us-east-1:123456789012:inference-profile/x', 'denied: ***'],
  [
    'Publisher model projects/acme-prod-42/locations/us/models/m not found',
    'Publisher model projects/***/locations/us/models/m not found',
  ],
  ['You sent sk-proj-Zq81hTyW0pLmN4vR', 'You sent ***'],
  [
    'Your keys second-key-of-ours-7731 and sk-p...4vR are no good: sk-p...N4vR',
    'Your keys *** and *** are no good: ***',
  ],
  ['Key ending in …N4vR, ****N4vR or abcd****wxyz', 'Key ending in ***, *** or ***'],
  ['POST https://llm.inner.example:8443/team-a/v1/chat/completions failed', 'POST *** failed'],
  ['no route at LLM.inner.example, port llm.inner.example:8443', 'no route at ***, port ***'],
  [
    'proxy http://10.1.2.3:4000/v1 and http://vllm:8000/v1/models, 192.168.0.7:80, http://db.corp/x',
    'proxy *** and ***, ***, ***',
  ],
];

test.each(hidden)('R9: of “%s” a client hears “%s”', (message, shown) => {
  expect(shownMessage(message, channel)).toBe(shown);
  for (const kind of ['bad_request', 'context_length', 'content_policy'] as const)
    expect(refusalFor({ kind, message, param: message }, 'req', undefined, channel)).toMatchObject({
      message: shown,
      param: shown,
    });
});

test.each([
  "Invalid 'messages[0].content': expected a string. See https://platform.openai.com/docs/api-reference.",
  'max_tokens is too large: 5000. This model supports at most 4096 completion tokens, **including** thinking.',
  'Your organization must be verified to stream this model.',
  "Invalid schema for function 'get_project': in context=('properties', 'project'), 'type' is missing",
  'The image at https://example.com/team/photo.png could not be fetched... try again.',
  'Account for whitespace: project plans and team names are words.',
  'Unsupported parameter: user_location. Ratio 10.5:20 is out of range at 12:30.',
])('what names nothing of ours stays as it is: %s', (message) => {
  expect(shownMessage(message, channel)).toBe(message);
  expect(shownMessage(message, undefined)).toBe(message);
});

test('long words take no long time', () => {
  const started = processorMs();
  for (const part of [
    'organization ',
    'http://',
    'a.',
    '****',
    'sk-p...',
    'projects/',
    'account: ',
    '10.0.0.1:',
    "team '",
    'llm.inner.example:',
  ])
    shownMessage(part.repeat(Math.ceil(256_000 / part.length)), channel);
  expect(processorMs() - started).toBeLessThan(500);
});
