import { randomUUID } from 'node:crypto';
import { randomText } from '../../src/base/random.ts';
import { claudeNamed } from '../anthropic/claude.ts';
import { chatOf } from '../anthropic/messages-chat.ts';
import { thinks } from '../anthropic/messages-rules.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type Row, type Rows, fillRow } from '../dialects/base.ts';
import { type Json, object, objectIn } from '../json.ts';
import {
  type ModelRequest,
  modelRequest,
  blankProblem,
  type OwnCall,
  type OwnFormat,
} from '../own-format.ts';
import type { Writer } from '../play.ts';
import { withoutScenarios } from '../scenario.ts';
import { invoke } from '../vectors/bedrock.ts';
import { messagesOf } from './converse-messages.ts';
import { converseComplaint } from './converse-rules.ts';
import { counted } from './count-tokens.ts';
import { type ConverseRequest, converseBody, converseEvents } from './converse-write.ts';
import { brokenFrame, exceptionFrame } from './event-frame.ts';
import { converseModel, profileComplaint } from './model.ts';
import { doubtOf, secretAccessKey } from './proof.ts';

const invalid = (message: string): Row => ({ status: 400, type: 'ValidationException', message });
const denied = (type: string): Row => ({
  status: 403,
  type,
  message: 'The security token included in the request is invalid.',
});

/**
 * docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html and API_runtime_Converse.html,
 * 2026-08, and recorded refusals.
 */
const rows: Rows = {
  missing_key: denied('MissingAuthenticationTokenException'),
  wrong_key: denied('UnrecognizedClientException'),
  unknown_url: { status: 404, type: 'UnknownOperationException', message: 'Unknown operation' },
  unknown_model: invalid('The provided model identifier is invalid.'),
  bad_request: invalid('The request is invalid.'),
  context: invalid(
    'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  ),
  policy: invalid(
    'The model returned the following errors: Output blocked by content filtering policy',
  ),
  rate: {
    status: 429,
    type: 'ThrottlingException',
    message: 'Too many requests, please wait before trying again.',
  },
  quota: {
    status: 403,
    type: 'AccessDeniedException',
    message:
      'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.',
  },
  server: {
    status: 500,
    type: 'InternalServerException',
    message:
      'The system encountered an unexpected error during processing. Try your request again.',
  },
  overloaded: {
    status: 503,
    type: 'ServiceUnavailableException',
    message: 'Model is getting throttled. Try your request again.',
  },
};

/** Recorded: a header carries the exception's name, followed by an address. */
function refuse(problem: Problem): Reply {
  const { status, type, code, message } = fillRow(rows, problem);
  const name = code ?? type ?? '';
  const headers = {
    'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    'x-amzn-requestid': randomUUID(),
  };
  return { status, headers, body: { message } };
}

function take(call: OwnCall): Reply | ModelRequest {
  const blank = blankProblem(call.url);
  const doubt = doubtOf(call);
  if (doubt !== undefined) return refuse({ ...blank, kind: 'wrong_key', complaint: doubt });
  const invoked = invoke(call);
  if (invoked !== undefined)
    return 'message' in invoked ? refuse({ ...blank, complaint: invoked }) : invoked;
  const [, id, operation] =
    /^\/model\/([^/]+)\/(converse|converse-stream|count-tokens)$/.exec(call.path) ?? [];
  if (call.method !== 'POST' || id === undefined) return refuse({ ...blank, kind: 'unknown_url' });
  const named = decodeURIComponent(id);
  const model = withoutScenarios(named);
  const raw = objectIn(call.body);
  if (raw !== undefined && operation === 'count-tokens')
    return counted(raw, named, (no) => refuse({ ...blank, model, ...no }));
  const message =
    raw === undefined
      ? 'Unable to parse the request body as JSON.'
      : (profileComplaint(model) ?? converseComplaint(raw, model));
  if (raw === undefined || message !== undefined)
    return refuse({ ...blank, model, complaint: message === undefined ? undefined : { message } });
  const messages = messagesOf(raw, claudeNamed(model).outputMax);
  const chat = {
    ...chatOf(messages, model),
    stream: operation === 'converse-stream',
    max_tokens: object(raw['inferenceConfig'])['maxTokens'],
  };
  const { caches, family } = converseModel(model);
  return modelRequest(
    named,
    chat,
    reasons(raw, messages, model),
    writerOf({ messages, signs: family === 'claude', marks: caches !== 'nowhere' }),
  );
}

function reasons(raw: Json, messages: Json, model: string): boolean {
  if (converseModel(model).family === 'claude') return thinks(messages, model);
  const { reasoningConfig, reasoning_config: effort } = object(raw['additionalModelRequestFields']);
  return (
    object(reasoningConfig)['type'] === 'enabled' ||
    effort !== undefined ||
    /gpt-oss|deepseek\.r1/.test(model)
  );
}

const writerOf = (request: ConverseRequest): Writer => ({
  end: '',
  streamType: 'application/vnd.amazon.eventstream',
  broken: brokenFrame,
  headers: { 'x-amzn-requestid': randomUUID() },
  events: (answer) => converseEvents(answer, request),
  whole: (answer) => converseBody(answer, request),
  error: (problem) => exceptionFrame('internalServerException', fillRow(rows, problem).message),
});

/** Amazon Bedrock's runtime: Converse and ConverseStream. */
export const bedrock: OwnFormat = {
  vendor: 'bedrock',
  prefix: '/bedrock',
  key: `AKIASIMULATEDVENDOR1:${secretAccessKey}`,
  callId: () => `tooluse_${randomText(22)}`,
  refuse,
  take,
};
