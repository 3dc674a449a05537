import type { Answer } from '../answer.ts';
import {
  type Complaint,
  type Dialect,
  type Draft,
  part,
  type Rule,
  type Style,
} from '../dialect.ts';
import type { ChatRequest } from '../request.ts';
import {
  contents,
  documents,
  parts,
  images,
  roles,
  someMessages,
  toolResultsFollowCalls,
} from '../rules/messages.ts';
import {
  flag,
  formats,
  jsonModeNamesJson,
  none,
  oneOf,
  only,
  range,
  stopAtMost,
  streamOptionsWithStream,
  topLogprobsWithLogprobs,
  unsupported,
} from '../rules/parameters.ts';
import { choiceIsKnown, choiceWithTools, strictFormat, wellFormedTools } from '../rules/tools.ts';
import { hash } from '../tokens.ts';
import { callId, openAiEnvelope, openAiRows, openAiStyle, refuser } from './base.ts';

/** CreateChatCompletionRequest of the OpenAPI description, 2026-08-21. */
export const openAiParameters = [
  'audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities model moderation n',
  'parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format',
  'safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options',
].flatMap((line) => line.split(' '));

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** o-series and gpt-5 on, except for the chat models. */
const openAiReasons = ({ model }: ChatRequest): boolean =>
  /^(?:o\d|gpt-[5-9])/.test(model) && !/chat/.test(model);

const sees = (model: string): boolean =>
  !/^(?:gpt-3\.5|gpt-4(?:-\d{4})?$|o1-mini|o3-mini)/.test(model);

const reasonsNow = (request: ChatRequest): boolean =>
  openAiReasons(request) && request.raw['reasoning_effort'] !== 'none';

const fixedSampling: Rule = (request) => {
  if (!reasonsNow(request)) return undefined;
  const param = ['temperature', 'top_p'].find((name) => (request.raw[name] ?? 1) !== 1);
  if (param === undefined) return undefined;
  const value = String(request.raw[param]);
  return {
    param,
    code: 'unsupported_value',
    message: `Unsupported value: '${param}' does not support ${value} with this model. Only the default (1) value is supported.`,
  };
};

/**
 * wire-formats §0.8: from gpt-5.4 on, function tools with reasoning need the responses endpoint.
 */
const noToolsWhileReasoning: Rule = (request) => {
  const version = Number(/^gpt-(\d+(?:\.\d+)?)/.exec(request.model)?.[1] ?? 0);
  if (version < 5.4 || request.tools.length === 0 || !reasonsNow(request)) return undefined;
  // Recorded: it reasons only on request.
  if (request.model.startsWith('gpt-5.4-mini') && request.raw['reasoning_effort'] === undefined)
    return undefined;
  return {
    param: 'reasoning_effort',
    message: `Function tools with reasoning_effort are not supported for ${request.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
  };
};

const oneLimit: Rule = ({ raw }) => {
  if (typeof raw['max_tokens'] !== 'number' || typeof raw['max_completion_tokens'] !== 'number')
    return undefined;
  return {
    param: 'max_tokens',
    code: 'invalid_parameter_combination',
    message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
  };
};

const notAChatModel: Rule = ({ model }) => {
  if (!/-instruct$|^(?:babbage|davinci)-/.test(model)) return undefined;
  return {
    status: 404,
    param: 'model',
    message:
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
  };
};

const useCompletionTokens: Complaint = {
  ...unsupported('max_tokens'),
  message:
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
};

const unknownArgument = (param: string): Complaint => ({
  message: `Unrecognized request argument supplied: ${param}`,
});

const modelGiven: Rule = ({ raw }) =>
  typeof raw['model'] === 'string' && raw['model'] !== ''
    ? undefined
    : { message: 'you must provide a model parameter' };

const partTypes = new Set(['text', 'refusal', 'input_audio']);
/**
 * developers.openai.com/api/docs/guides/file-inputs, 2026-08: models that see images read PDFs, as
 * text and as images of their pages.
 */
const reads = sees;

/** The checks of OpenAI and Azure before the model, in the order in which errors are reported. */
export const openAiRules: readonly Rule[] = [
  modelGiven,
  notAChatModel,
  only(openAiParameters, unknownArgument),
  someMessages,
  none(['max_tokens'], () => useCompletionTokens, openAiReasons),
  none(['stop', 'logit_bias'], unsupported, openAiReasons),
  none(
    ['logprobs', 'top_logprobs', 'presence_penalty', 'frequency_penalty'],
    unsupported,
    reasonsNow,
  ),
  none(
    ['reasoning_effort'],
    unknownArgument,
    (request) => !openAiReasons(request) && !request.model.startsWith('sim-'),
  ),
  range('temperature', { min: 0, max: 2 }),
  range('top_p', { min: 0, max: 1 }),
  range('presence_penalty', { min: -2, max: 2 }),
  range('frequency_penalty', { min: -2, max: 2 }),
  range('max_tokens', { min: 1, max: Infinity, whole: true }),
  range('max_completion_tokens', { min: 1, max: Infinity, whole: true }),
  range('n', { min: 1, max: 128, whole: true }),
  range('top_logprobs', { min: 0, max: 20, whole: true }),
  flag('stream'),
  flag('logprobs'),
  oneOf('reasoning_effort', efforts),
  stopAtMost(4),
  oneLimit,
  streamOptionsWithStream,
  topLogprobsWithLogprobs,
  fixedSampling,
  roles(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  contents,
  parts(
    (type, { model }) =>
      (type === 'file' ? reads(model) : partTypes.has(type)) ||
      (type === 'image_url' && sees(model)),
    (type, message, at) =>
      type === 'image_url'
        ? { message: 'Invalid content type. image_url is only supported by certain models.' }
        : {
            param: `messages[${message}].content[${at}].type`,
            code: 'invalid_value',
            message: `Invalid value: '${type}'.`,
          },
  ),
  images({
    param: 'messages',
    code: 'invalid_image_format',
    message:
      "You uploaded an unsupported image. Please make sure your image is of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
  }),
  documents,
  toolResultsFollowCalls,
  wellFormedTools,
  choiceWithTools,
  choiceIsKnown,
  noToolsWhileReasoning,
  formats(['text', 'json_object', 'json_schema'], (type) => ({
    param: 'response_format.type',
    code: 'invalid_value',
    message: `Invalid value: '${type}'. Supported values are: 'json_object', 'json_schema', and 'text'.`,
  })),
  strictFormat,
  jsonModeNamesJson(
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  ),
];

/** Padding that hides the length of a piece, unless the request turns it off. */
function obfuscate(draft: Draft, piece: string, request: ChatRequest, answer: Answer): void {
  const options = request.raw['stream_options'];
  if (
    typeof options === 'object' &&
    options !== null &&
    'include_obfuscation' in options &&
    options.include_obfuscation === false
  )
    return;
  draft['obfuscation'] = 'abcdefghijklmnopqrstuvwxyz'.slice(0, 1 + (hash(answer.id + piece) % 16));
}

export const openAiChatStyle: Style = {
  ...openAiStyle,
  chunk(draft, choice, moment, request) {
    Object.assign(draft, { service_tier: 'default', system_fingerprint: 'fp_sim' });
    if (moment.kind === 'role') part(choice, 'delta')['refusal'] = null;
    if (choice !== undefined && !openAiReasons(request)) choice['logprobs'] ??= null;
    if (request.includeUsage) draft['usage'] ??= null;
    obfuscate(draft, moment.piece, request, moment.answer);
  },
  whole(draft, choices, _, request) {
    for (const choice of choices) {
      Object.assign(part(choice, 'message'), { refusal: null, annotations: [] });
      if (!openAiReasons(request)) choice['logprobs'] ??= null;
    }
    Object.assign(draft, { service_tier: 'default', system_fingerprint: 'fp_sim' });
  },
};

export const openai: Dialect = {
  vendor: 'openai',
  prefix: '/openai/v1',
  responses: 'all',
  key: 'bearer',
  reasons: reasonsNow,
  callId,
  rules: openAiRules,
  refuse: refuser(openAiRows, openAiEnvelope, { 'x-request-id': 'req_sim' }),
  style: openAiChatStyle,
};
