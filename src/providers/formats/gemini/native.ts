import {
  editJsonBytes,
  editJsonPieces,
  bodyOfPieces,
  jsonText,
  type Documented,
  type JsonChange,
  type JsonObject,
  type JsonPath,
  objectOf,
  objectsOf,
  parse,
  textOf,
  countOf,
} from '../../../base/json.ts';
import type { Fault } from '../../../base/fault.ts';
import type { Adapter, BaseAdapter, VendorAnswer, VendorCall } from '../../adapter.ts';
import { protocolFault } from '../fault.ts';
import { geminiFault, geminiFaultWithin } from './fault.ts';
import { GenerateCollector, NativeGenerateStream } from './native-stream.ts';
import { GenerateUsage, answerChanges, wordsOf } from './native-usage.ts';
import { modelPath } from './request.ts';
import type { GenerateContentRequest } from './request-types.ts';
import { isOwnSignature } from './signature.ts';
import { sentName } from '../../conversation/spelling.ts';
import { jsonHeaders, jsonRequest } from '../json-request.ts';
import { objectIn, noObject, readStreamed } from '../reply.ts';
import { skipsValidation } from './contents.ts';
import type { GenerateContentResponse } from './types.ts';

/**
 * The adapter for clients of `generateContent` and a vendor of the same format. The bytes stay the
 * same except for the model, a limit beyond its maximum, and signatures that Tollgate wrote for
 * answers of other vendors.
 */
export const geminiNative: Adapter = {
  ask(call: VendorCall<GenerateContentRequest>) {
    const method = call.streamUpstream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const changes = [
      ...modelChanges(call.body, call.upstreamModel, []),
      ...limitChanges(call),
      ...signatureChanges(call.body),
      ...(call.bounds ?? []),
    ];
    return {
      path: `${modelPath(call.upstreamModel)}:${method}`,
      headers: jsonHeaders,
      ...bodyOfPieces(editJsonPieces(call.bytes, changes, call.skeleton)),
    };
  },
  read(reply, contentType, call) {
    if (!/event-stream/i.test(contentType)) return readWhole(reply, call);
    return readStreamed(reply, new GenerateCollector(call));
  },
  stream: (call) => new NativeGenerateStream(call),
  collect: (call) => new GenerateCollector(call),
  fault: geminiFault,
};

/** The body may name the model once more. */
export const modelChanges = (
  body: JsonObject | undefined,
  model: string,
  path: readonly (string | number)[],
): JsonChange[] =>
  body?.['model'] == null
    ? []
    : [{ path: [...path, 'model'], json: jsonText(modelPath(model).slice(1)) }];

function limitChanges({
  body,
  outputTokensMax,
}: Pick<VendorCall, 'body' | 'outputTokensMax'>): JsonChange[] {
  if (outputTokensMax === undefined) return [];
  const config = sentName(body, 'generationConfig');
  const limit = sentName(objectOf(body[config]), 'maxOutputTokens');
  return [{ path: [config, limit], json: String(outputTokensMax) }];
}

/** Replaces the signatures that Tollgate wrote on calls, and removes those on other parts. */
const signatureChanges = ({ contents }: Documented<GenerateContentRequest>): JsonChange[] =>
  placed(contents, ['contents']).flatMap(([turn, at]) =>
    placed(objectOf(turn)?.['parts'], [...at, 'parts']).flatMap(([value, path]): JsonChange[] => {
      const part: JsonObject = objectOf(value) ?? {};
      const name = sentName(part, 'thoughtSignature');
      if (!isOwnSignature(part[name])) return [];
      const place = { path: [...path, name] };
      const call = part[sentName(part, 'functionCall')];
      return [call === undefined ? place : { ...place, json: jsonText(skipsValidation) }];
    }),
  );

/** The elements of a list and their paths; one may stand without a list. */
const placed = (value: unknown, path: JsonPath): readonly (readonly [unknown, JsonPath])[] =>
  Array.isArray(value) ? value.map((one: unknown, i) => [one, [...path, i]]) : [[value, path]];

function readWhole(reply: Buffer, call: VendorCall): VendorAnswer | Fault {
  const body: Documented<GenerateContentResponse> | undefined = objectIn(reply);
  if (body === undefined)
    return geminiFaultWithin(parse(reply.toString('utf8'))) ?? noObject(reply);
  const fault = geminiFaultWithin(body);
  if (fault !== undefined) return fault;
  if (!Array.isArray(body.candidates) && objectOf(body.promptFeedback) === undefined)
    return protocolFault('an answer without candidates');
  const usage = new GenerateUsage(call);
  usage.add(body);
  const { quantities } = usage;
  return {
    body: editJsonBytes(reply, answerChanges(body, call)),
    quantities,
    pricingFacts: usage.pricingFacts,
    upstreamId: textOf(body.responseId),
    outputText: quantities ? '' : objectsOf(body.candidates).map(wordsOf).join(''),
  };
}

/**
 * Counts the tokens of a request, which the vendor does for free (ai.google.dev/api/tokens,
 * 2026-11). The client's bytes hold the contents, or a whole request in an envelope.
 */
export const geminiNativeCount: BaseAdapter = {
  ask({ bytes, upstreamModel }) {
    // `VendorCall.body` is the request without its envelope.
    const sent = objectOf(parse(bytes.toString('utf8'))) ?? {};
    return {
      path: `${modelPath(upstreamModel)}:countTokens`,
      headers: jsonHeaders,
      body: editJsonBytes(bytes, envelopeChanges(sent, upstreamModel)),
    };
  },
  read(reply) {
    const body = objectIn(reply);
    if (countOf(body?.['totalTokens']) === undefined)
      return protocolFault('a count that tells no tokens');
    return { body: reply, quantities: undefined, upstreamId: undefined, outputText: '' };
  },
  fault: geminiFault,
};

const envelopeName = 'generateContentRequest';

function envelopeChanges(body: JsonObject, model: string): JsonChange[] {
  const name = sentName(body, envelopeName);
  return [...modelChanges(body, model, []), ...modelChanges(objectOf(body[name]), model, [name])];
}

/**
 * Vertex takes no envelope and only members that count
 * (cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens,
 * 2026-08).
 */
export const vertexNativeCount: BaseAdapter = {
  ...geminiNativeCount,
  ask(call: VendorCall<GenerateContentRequest>) {
    const counted = ['contents', 'systemInstruction', 'tools', 'generationConfig'];
    const body = Object.fromEntries(
      counted.flatMap((name) => {
        const sent = sentName(call.body, name);
        const value = (call.body as JsonObject)[sent];
        return value == null ? [] : [[name, value]];
      }),
    );
    return jsonRequest(`${modelPath(call.upstreamModel)}:countTokens`, body);
  },
};
