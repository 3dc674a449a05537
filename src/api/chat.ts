import type { Principal } from '../accounts/principal.ts';
import { editBytes, jsonText } from '../base/json-edit.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { usageText } from '../providers/wire/chat-usage.ts';
import {
  type Body,
  isObject,
  optionalArray,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalObject,
  refuseType,
  requiredString,
} from './check.ts';
import { chatEnvelope } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';
import { checkMessages, textOf } from './chat-messages.ts';

/** Answers to one request at most, as in the convention. */
export const choicesMax = 128;
export const stopsMax = 4;
export const topLogprobsMax = 20;

/** How a completion ends, whose chunks are called so. */
export const completionFormat = (chunks: string): ClientFormat => ({
  done: 'data: [DONE]\n\n',
  keepAlive: ': keep-alive\n\n',
  errorEvent: chatEnvelope.event,
  limitHeaders,
  counted: {
    whole: (answer, quantities) =>
      editBytes(answer, [{ path: ['usage'], json: usageText(quantities) }]),
    event(request, created, quantities) {
      const head = `{"id":${jsonText(request.answerId)},"object":"${chunks}","created":${created},"model":${jsonText(request.model)}`;
      return `data: ${head},"choices":[],"usage":${usageText(quantities)}}\n\n`;
    },
  },
});

export const chatFormat = completionFormat('chat.completion.chunk');

/**
 * POST /v1/chat/completions: the request as the pipeline takes it. Throws the Refusal that names
 * what is wrong.
 */
export function parseChat(
  id: string,
  principal: Principal,
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const model = requiredString(body, 'model');
  const media = checkMessages(body['messages']);
  const stream = optionalBoolean(body, 'stream') ?? false;
  const streamOptions = checkStreamOptions(body, stream);
  checkSampling(body);
  optionalInteger(body, 'top_logprobs', 0, topLogprobsMax);
  checkTools(body);
  const outputParam =
    body['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens';
  return {
    id,
    principal,
    capability: 'chat',
    model,
    body,
    bytes,
    stream,
    includeUsage: streamOptions?.['include_usage'] === true,
    choices: optionalInteger(body, 'n', 1, choicesMax) ?? 1,
    outputTokensAsked: optionalInteger(body, outputParam, 1, Number.MAX_SAFE_INTEGER),
    media: media.kinds,
    mediaCount: media.count,
    mediaBytes: media.bytes,
    addresses: media.addresses,
    text: () => textOf(body),
    answerId: `chatcmpl-${id.slice(4)}`,
  };
}

/** The stream's options, which only a stream has. */
export function checkStreamOptions(body: Body, stream: boolean): Body | undefined {
  const options = optionalObject(body, 'stream_options');
  if (options === undefined) return undefined;
  if (!stream)
    refuse('invalid_value', {
      param: 'stream_options',
      why: "it is only allowed when 'stream' is true.",
    });
  const asked = options['include_usage'];
  if (asked !== undefined && asked !== null && typeof asked !== 'boolean')
    refuseType('stream_options.include_usage', 'a boolean', asked);
  return options;
}

/** What chat and text completions understand alike. */
export function checkSampling(body: Body): void {
  optionalNumber(body, 'temperature', 0, 2);
  optionalNumber(body, 'top_p', 0, 1);
  optionalNumber(body, 'frequency_penalty', -2, 2);
  optionalNumber(body, 'presence_penalty', -2, 2);
  optionalInteger(body, 'seed', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  optionalObject(body, 'logit_bias');
  checkStop(body);
}

/** Where the model shall stop: one text or a few. */
function checkStop(body: Body): void {
  const stop = body['stop'];
  if (stop === undefined || stop === null || typeof stop === 'string') return;
  if (!Array.isArray(stop)) refuseType('stop', 'a string or an array of strings', stop);
  if (stop.length > stopsMax)
    refuse('out_of_range', {
      param: 'stop',
      expected: `of at most ${stopsMax} strings`,
      got: stop.length,
    });
  for (const [i, one] of stop.entries())
    if (typeof one !== 'string') refuseType(`stop[${i}]`, 'a string', one);
}

function checkTools(body: Body): void {
  const tools = optionalArray(body, 'tools') ?? [];
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
  }
  optionalBoolean(body, 'parallel_tool_calls');
  const format = optionalObject(body, 'response_format');
  if (format !== undefined && typeof format['type'] !== 'string')
    refuseType('response_format.type', 'a string', format['type']);
}
