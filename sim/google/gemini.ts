import { isWrongKey } from '../api-key.ts';
import { randomText } from '../../src/base/random.ts';
import type { Reply } from '../dialect.ts';
import type { Json } from '../json.ts';
import { type ModelRequest, blankProblem, type OwnCall, type OwnFormat } from '../own-format.ts';
import { callModel } from './generate.ts';
import { listed, modelFacts } from './model.ts';
import { keyInvalid, keyMissing, refusal, status, type Surface, unknownModel } from './refusal.ts';

const surface: Surface = { api: 'gemini', models: 'models/' };

function take(call: OwnCall): Reply | ModelRequest {
  const header = call.headers['x-goog-api-key'];
  const key = typeof header === 'string' ? header : call.query.get('key');
  if (key === null || key === '') return keyMissing;
  if (isWrongKey(key)) return keyInvalid;
  const path = /^\/gemini\/v1(?:beta|alpha)?(\/.*)$/.exec(call.url.split('?')[0] ?? '')?.[1] ?? '';
  const [, id = '', method] = /^\/(?:models|tunedModels)\/([^/:]+)(?::(\w+))?$/.exec(path) ?? [];
  const named = decodeURIComponent(id);
  if (call.method === 'GET' && path === '/models') return list(call.query);
  if (call.method === 'GET' && id !== '' && method === undefined)
    return listed.includes(named)
      ? { status: 200, body: describe(named) }
      : unknownModel(surface, named, 'generateContent');
  if (call.method === 'POST' && method !== undefined)
    return callModel(call, named, method, surface);
  return refusal(surface, { ...blankProblem(''), kind: 'unknown_url' });
}

const pageMax = 1_000;

function list(query: URLSearchParams): Reply {
  const size = Number(query.get('pageSize') ?? 50);
  const from = Number(query.get('pageToken') ?? 0);
  if (!(size >= 1) || !Number.isInteger(from))
    return status(400, 'page_size and page_token are not valid.');
  const to = from + Math.min(size, pageMax);
  const models = listed.slice(from, to).map(describe);
  return {
    status: 200,
    body: { models, ...(to < listed.length && { nextPageToken: String(to) }) },
  };
}

/** As recorded. */
function describe(id: string): Json {
  const { outputMax, thinking } = modelFacts(id);
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: 'A simulated model.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: outputMax,
    supportedGenerationMethods: [
      'generateContent',
      'countTokens',
      'createCachedContent',
      'batchGenerateContent',
    ],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    ...(thinking.kind !== 'none' && { thinking: true }),
  };
}

/** The Gemini API: ai.google.dev/api, v1beta, 2026-08. */
export const gemini: OwnFormat = {
  vendor: 'gemini',
  prefix: '/gemini/v1beta',
  callId: () => randomText(8).toLowerCase(),
  retryInBody: true,
  refuse: (problem) => refusal(surface, problem),
  take,
};
