import { randomUUID } from 'node:crypto';
import { bearerOf, isWrongKey } from '../api-key.ts';
import { randomText } from '../../src/base/random.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type Rows, fillRow } from '../dialects/base.ts';
import { type Json, object, objectIn, text } from '../json.ts';
import {
  type ModelRequest,
  modelRequest,
  blankProblem,
  type OwnCall,
  type OwnFormat,
} from '../own-format.ts';
import { withoutScenarios } from '../scenario.ts';
import { cohereEndpoint } from '../vectors/cohere.ts';
import { asQuestion } from '../vectors/writer.ts';
import { known, listed, thinksByItself } from './model.ts';
import { asChat } from './request.ts';
import { complaintOf } from './rules.ts';
import { cohereWriter } from './write.ts';

/** docs.cohere.com/reference/errors, 2026-08; 401, 404 and too many tokens as recorded. */
const rows: Rows = {
  missing_key: { status: 401, message: 'no api key supplied' },
  wrong_key: {
    status: 401,
    message:
      'Incorrect API key provided: ***********. You can find your API key at https://dashboard.cohere.com/api-keys.',
  },
  unknown_url: { status: 404, message: 'page not found' },
  unknown_model: {
    status: 404,
    message:
      "model '{model}' not found, make sure the correct model ID was used and that you have access to the model.",
  },
  bad_request: { status: 400, message: 'invalid request' },
  context: {
    status: 400,
    type: 'TOO_MANY_TOKENS',
    message:
      'too many tokens: size limit exceeded by {tokens} tokens. Try using shorter or fewer inputs. The limit for this model is 16 tokens.',
  },
  policy: { status: 400, message: 'invalid request: the prompt was blocked for safety reasons.' },
  rate: {
    status: 429,
    message:
      "You are using a Trial key, which is limited to 20 API calls / minute. You can continue to use the Trial key for free or upgrade to a Production key with higher rate limits at 'https://dashboard.cohere.com/api-keys'.",
  },
  quota: {
    status: 402,
    message:
      'Please add or update your payment method at https://dashboard.cohere.com/billing?tab=payment',
  },
  server: {
    status: 500,
    message: 'internal server error, this has been reported to our developers. id {path}',
  },
  overloaded: { status: 503, message: 'The service is temporarily unavailable.' },
};

/** Each refusal has its own name; only too many tokens also have a type. */
function refuse(problem: Problem): Reply {
  const { status, type, message } = fillRow(rows, problem);
  return {
    status,
    body: { ...(type !== null && { error_type: type }), id: randomUUID(), message },
  };
}

function take(call: OwnCall): Reply | ModelRequest {
  const no = (kind: Problem['kind'], more: Partial<Problem> = {}): Reply =>
    refuse({ ...blankProblem(call.url), kind, ...more });
  const key = bearerOf(call.headers);
  if (key === undefined) return no('missing_key');
  if (isWrongKey(key)) return no('wrong_key');
  // The list of models still belongs to version 1 (docs.cohere.com/reference/list-models, 2026-08).
  if (call.method === 'GET' && /^\/cohere\/v[12]\/models$/.test(call.url.split('?')[0] ?? ''))
    return { status: 200, body: { models: listed.map(modelOf) } };
  const endpoint = cohereEndpoint(call.path);
  if (call.method !== 'POST' || (endpoint === undefined && call.path !== '/chat'))
    return no('unknown_url');
  const raw = objectIn(call.body);
  if (raw === undefined)
    return no('bad_request', {
      complaint: { message: 'invalid request: body must be valid JSON' },
    });
  const named = text(raw['model']) ?? '';
  const model = withoutScenarios(named);
  const complaint = endpoint === undefined ? complaintOf(raw, model) : endpoint.complaint(raw);
  if (complaint !== undefined) return no('bad_request', { model, complaint });
  if (endpoint !== undefined)
    return modelRequest(named, asQuestion(endpoint.texts(raw)), false, endpoint.writer(raw));
  if (!known(model)) return no('unknown_model', { model });
  const reasons = thinksByItself(model) && object(raw['thinking'])['type'] !== 'disabled';
  const broken = (): Json => object(refuse({ ...blankProblem(call.url), kind: 'server' }).body);
  return modelRequest(named, asChat(raw), reasons, cohereWriter(model, broken));
}

const modelOf = (name: string): Json => ({
  name,
  endpoints: ['chat'],
  finetuned: false,
  context_length: 256_000,
  default_endpoints: ['chat'],
  features: ['tools', 'json_mode'],
});

/** Cohere's chat, version 2: docs.cohere.com/reference/chat, 2026-08. */
export const cohere: OwnFormat = {
  vendor: 'cohere',
  prefix: '/cohere/v2',
  callId: () => randomText(12).toLowerCase(),
  refuse,
  take,
};
