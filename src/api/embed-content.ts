import { editJsonBytes, isObject, jsonText } from '../base/json.ts';
import { refuse } from '../base/refusal.ts';
import { inputTokens } from '../catalog/price.ts';
import { type ApiRequest, defaultsWithoutText } from '../gateway/api-request.ts';
import { inCamelCase } from '../providers/conversation/spelling.ts';
import { generateEnvelope } from './errors.ts';
import type { GenerateContext } from './generate.ts';
import { modelIdOf } from './generate-models.ts';
import {
  checkLength,
  type ParsedJson,
  type RequestBody,
  checkOf,
  refuseType,
} from './request-body.ts';
import * as schema from './schema.ts';
import { embeddingInputsMax, wholeFormat } from './vectors.ts';

const textPart = schema.request({ text: schema.string('A text.') });

const settings = {
  taskType: schema.string('The purpose of the vector; for models that support it.'),
  title: schema.string('The title of the document.'),
  outputDimensionality: schema.integer('Number of dimensions; for models that support it.', 1),
};

export const embedRequestSchema = schema.request(
  {
    content: schema.checkedBy(
      textOfContent,
      schema.request({
        parts: schema.anyOf(
          'Parts with a `text`. A single part needs no list.',
          { type: 'array', minItems: 1, items: textPart },
          textPart,
        ),
      }),
    ),
  },
  settings,
);

export const batchEmbedRequestSchema = schema.request({
  requests: schema.array('One request for each vector.', embedRequestSchema, {
    minItems: 1,
    maxItems: embeddingInputsMax,
  }),
});

/** Writes our own count where the vendor reports none. */
export const embedFormat = wholeFormat((answer, quantities) => {
  const json = jsonText({ promptTokenCount: inputTokens(quantities) });
  return editJsonBytes(answer, [{ path: ['usageMetadata'], json }]);
}, generateEnvelope);

/** POST /v1beta/models/{model}:embedContent */
export function parseEmbedContent(context: GenerateContext, sent: ParsedJson): ApiRequest {
  const body = inCamelCase(sent.body);
  refuseMember(body, 'requests', 'batchEmbedContents takes a list of requests.');
  return requestOf(context, sent, [checkOne(body, '')]);
}

/** A member of the other method: its text would be sent and not counted. */
function refuseMember(body: RequestBody, param: string, why: string): void {
  if (body[param] !== undefined && body[param] !== null) refuse('invalid_value', { param, why });
}

/** POST …:batchEmbedContents: all requests go to the model of the path. */
export function parseBatchEmbedContents(context: GenerateContext, sent: ParsedJson): ApiRequest {
  const body = inCamelCase(sent.body);
  refuseMember(body, 'content', 'embedContent takes one content; each of `requests` has its own.');
  const { requests } = body;
  if (!Array.isArray(requests)) refuseType('requests', 'an array', requests);
  if (requests.length === 0)
    refuse('invalid_value', { param: 'requests', why: 'it must not be empty.' });
  checkLength(requests, 'requests', embeddingInputsMax, 'items');
  const texts = requests.map((request, i) => {
    if (!isObject(request)) refuseType(`requests[${i}]`, 'an object', request);
    const { model } = request;
    if (typeof model === 'string' && modelIdOf(model) !== context.model)
      refuse('invalid_value', {
        param: `requests[${i}].model`,
        why: `the path names the model '${context.model}', which makes all vectors.`,
      });
    return checkOne(request, `requests[${i}].`);
  });
  return requestOf(context, sent, texts);
}

function requestOf(
  { id, principal, model }: GenerateContext,
  { body, bytes, skeleton }: ParsedJson,
  texts: readonly string[],
): ApiRequest {
  return {
    id,
    principal,
    capability: 'embed_content',
    model,
    body,
    bytes,
    skeleton,
    stream: false,
    ...defaultsWithoutText,
    textBytes: bytes.length,
    text: () => texts.join(' '),
    answerId: id.slice(4),
  };
}

/** The text of one request. `at`: the path before its members. */
function checkOne(request: RequestBody, at: string): string {
  const text = textOfContent(request['content'], `${at}content`);
  for (const [name, one] of Object.entries<schema.Schema>(settings))
    if (request[name] !== undefined && request[name] !== null)
      checkOf(one, `${at}${name}`)(request[name]);
  const { title } = request;
  return typeof title === 'string' ? `${title}\n${text}` : text;
}

function textOfContent(content: unknown, param: string): string {
  if (!isObject(content)) refuseType(param, 'an object', content);
  const { parts } = content;
  if (parts === undefined || parts === null)
    refuse('missing_parameter', { param: `${param}.parts` });
  const all: readonly unknown[] = Array.isArray(parts) ? parts : [parts];
  const texts = all.map((part, i) => {
    const at = Array.isArray(parts) ? `${param}.parts[${i}]` : `${param}.parts`;
    if (!isObject(part)) refuseType(at, 'an object', part);
    const { text } = part;
    if (typeof text !== 'string')
      refuseType(`${at}.text`, 'a string: vectors are made of text', text);
    for (const member of ['inlineData', 'fileData'])
      if (part[member] !== undefined && part[member] !== null)
        refuse('invalid_value', { param: `${at}.${member}`, why: 'vectors are made of text.' });
    return text;
  });
  const text = texts.join('\n');
  if (text === '') refuse('invalid_value', { param, why: 'it has no text.' });
  return text;
}
