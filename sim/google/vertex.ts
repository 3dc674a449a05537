import { bearerOf, isWrongKey } from '../api-key.ts';
import { randomText } from '../../src/base/random.ts';
import { anthropic } from '../anthropic/anthropic.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type ModelRequest, blankProblem, type OwnCall, type OwnFormat } from '../own-format.ts';
import { callClaude } from './claude.ts';
import { callModel } from './generate.ts';
import { listed } from './model.ts';
import { keyInvalid, refusal, type Surface, tokenInvalid, tokenMissing } from './refusal.ts';
import { grantToken, isToken } from './token.ts';

const models =
  /^\/vertex\/v1(?:beta1)?\/((?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/(\w+)\/models)(?:\/([^/:]+)(?::(\w+))?)?$/;

function take(call: OwnCall): Reply | ModelRequest {
  const path = call.url.split('?')[0] ?? '';
  if (path === tokenPath) return grantToken(call);
  const refused = refuseKey(call);
  if (refused !== undefined) return refused;
  const [, place = '', publisher = '', id = '', method = ''] = models.exec(path) ?? [];
  const named = decodeURIComponent(id);
  const surface: Surface = { api: 'vertex', models: `${place}/` };
  if (call.method === 'GET' && publisher === 'google' && id === '')
    return {
      status: 200,
      body: {
        publisherModels: listed.map((model) => ({
          name: `publishers/google/models/${model}`,
          versionId: 'default',
        })),
      },
    };
  if (call.method === 'POST' && publisher === 'anthropic' && method !== '')
    return callClaude(call, named, method, surface);
  if (call.method === 'POST' && publisher === 'google' && method !== '')
    return callModel(call, named, method, surface);
  return refusal(surface, { ...blankProblem(''), kind: 'unknown_url' });
}

/** An access token, or a key of express mode. */
function refuseKey({ headers, query }: OwnCall): Reply | undefined {
  const key = headers['x-goog-api-key'] ?? query.get('key') ?? undefined;
  if (key !== undefined) return isWrongKey(String(key)) ? keyInvalid : undefined;
  const token = bearerOf(headers);
  if (token === undefined) return tokenMissing;
  return isToken(token) ? undefined : tokenInvalid;
}

/** Google's own checks refuse in its format; a publisher's model refuses in the publisher's. */
function refuse(problem: Problem): Reply {
  const publishers =
    problem.path.includes('/publishers/anthropic/') &&
    ['bad_request', 'context', 'policy'].includes(problem.kind);
  return publishers ? anthropic.refuse(problem) : refusal({ api: 'vertex', models: '' }, problem);
}

const tokenPath = '/vertex/token';

/** Vertex AI: cloud.google.com/vertex-ai/generative-ai/docs/reference/rest, 2026-08. */
export const vertex: OwnFormat = {
  vendor: 'vertex',
  prefix: '/vertex/v1/projects/sim-project/locations/global',
  callId: () => `toolu_vrtx_01${randomText(22)}`,
  retryInBody: true,
  refuse,
  take,
};
