import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../accounts/principal.ts';
import { editBytes, jsonText } from '../base/json-edit.ts';
import { refuse } from '../base/refusal.ts';
import type { ClientFormat } from '../gateway/client-format.ts';
import type { ClientRequest } from '../gateway/request.ts';
import { messageUsage } from '../providers/wire/messages-usage.ts';
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
import { messagesEnvelope } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';
import { checkConversation, textOf } from './messages-content.ts';

/**
 * How a message ends: the event that says so is held back until the charge is committed. Pings keep
 * a stream open.
 */
export const messagesFormat: ClientFormat = {
  done: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  errorEvent: messagesEnvelope.event,
  limitHeaders,
  counted: {
    whole: (answer, quantities) =>
      editBytes(answer, [{ path: ['usage'], json: jsonText(messageUsage(quantities)) }]),
    // A stream tells it with the reason why it ended.
    event: () => '',
  },
};

/**
 * POST /v1/messages: the request as the pipeline takes it. Throws the Refusal that names what is
 * wrong.
 */
export function parseMessages(
  id: string,
  principal: Principal,
  headers: IncomingHttpHeaders,
  sent: Body,
  sentBytes: Buffer,
): ClientRequest {
  const off =
    sent['top_k'] === -1 || sent['top_p'] === -1
      ? switchedOff.filter((name) => sent[name] === -1)
      : undefined;
  const body = off === undefined ? sent : without(sent, off);
  const bytes =
    off === undefined
      ? sentBytes
      : editBytes(
          sentBytes,
          off.map((name) => ({ path: [name] })),
        );
  const asked = parseQuestion(id, principal, headers, body, bytes);
  if (body['max_tokens'] === undefined || body['max_tokens'] === null)
    refuse('missing_parameter', { param: 'max_tokens' });
  checkSampling(body);
  return {
    ...asked,
    stream: optionalBoolean(body, 'stream') ?? false,
    outputTokensAsked: optionalInteger(body, 'max_tokens', 0, Number.MAX_SAFE_INTEGER),
    dropped: off,
  };
}

/**
 * @langchain/anthropic before 1.0 sends -1 with every request to say that they are not set
 * (github.com/langchain-ai/langchainjs, libs/langchain-anthropic 0.3).
 */
const switchedOff = ['top_k', 'top_p'];

const without = (body: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

/** POST /v1/messages/count_tokens: the same without what concerns the answer. */
export function parseQuestion(
  id: string,
  principal: Principal,
  headers: IncomingHttpHeaders,
  body: Body,
  bytes: Buffer,
): ClientRequest {
  const model = requiredString(body, 'model');
  const media = checkConversation(body);
  checkTools(body);
  const thinking = optionalObject(body, 'thinking');
  if (thinking !== undefined && typeof thinking['type'] !== 'string')
    refuseType('thinking.type', 'a string', thinking['type']);
  optionalObject(body, 'output_config');
  return {
    id,
    principal,
    capability: 'messages',
    model,
    body,
    bytes,
    headers,
    stream: false,
    includeUsage: true,
    choices: 1,
    outputTokensAsked: undefined,
    media: media.kinds,
    mediaCount: media.count,
    mediaBytes: media.bytes,
    addresses: media.addresses,
    dropped: undefined,
    text: () => textOf(body),
    answerId: `msg_${id.slice(4)}`,
  };
}

/** The answer to a question of how many tokens. */
export const renderCount = (tokens: number): string => JSON.stringify({ input_tokens: tokens });

function checkSampling(body: Body): void {
  optionalNumber(body, 'temperature', 0, 1);
  optionalNumber(body, 'top_p', 0, 1);
  optionalInteger(body, 'top_k', 0, Number.MAX_SAFE_INTEGER);
  optionalObject(body, 'metadata');
  for (const [i, stop] of (optionalArray(body, 'stop_sequences') ?? []).entries())
    if (typeof stop !== 'string') refuseType(`stop_sequences[${i}]`, 'a string', stop);
}

export const toolChoices = ['auto', 'any', 'tool', 'none'];

function checkTools(body: Body): void {
  for (const [i, tool] of (optionalArray(body, 'tools') ?? []).entries()) {
    if (!isObject(tool)) refuseType(`tools[${i}]`, 'an object', tool);
    // Toolsets go by other members than a name.
    if (tool['type'] !== undefined && tool['type'] !== null && tool['type'] !== 'custom') continue;
    if (typeof tool['name'] !== 'string') refuseType(`tools[${i}].name`, 'a string', tool['name']);
    if (!isObject(tool['input_schema']))
      refuseType(`tools[${i}].input_schema`, 'an object', tool['input_schema']);
  }
  const choice = optionalObject(body, 'tool_choice');
  if (choice === undefined) return;
  const { type, name } = choice;
  if (typeof type !== 'string') refuseType('tool_choice.type', 'a string', type);
  if (!toolChoices.includes(type))
    refuse('invalid_value', {
      param: 'tool_choice.type',
      why: `'${type}' is not one of ${toolChoices.join(', ')}.`,
    });
  if (type === 'tool' && typeof name !== 'string') refuseType('tool_choice.name', 'a string', name);
}
