import type { Ask, Call } from '../adapter.ts';
import type { ChatCount } from './chat-count.ts';
import { askGemini, modelPath } from './gemini-ask.ts';
import { geminiFault } from './gemini-fault.ts';
import { type JsonObject, objectOf, parse } from './json.ts';

/**
 * countTokens of the Gemini API takes a whole request in an envelope (ai.google.dev/api/tokens,
 * 2026-08; recorded).
 */
export const geminiCount: ChatCount = {
  ask: (call) =>
    askCount(call, (request, path) => ({
      generateContentRequest: { model: path.slice(1), ...request },
    })),
  member: 'totalTokens',
  fault: geminiFault,
};

/**
 * Vertex takes what is counted and nothing else
 * (cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models/countTokens,
 * 2026-08).
 */
export const vertexCount: ChatCount = {
  ...geminiCount,
  ask: (call) => askCount(call, ({ toolConfig: _, cachedContent: __, ...counted }) => counted),
};

function askCount(call: Call, wrap: (request: JsonObject, path: string) => JsonObject): Ask {
  const { headers, body } = askGemini({ ...call, streamUpstream: false });
  const path = modelPath(call.upstreamModel);
  return {
    path: `${path}:countTokens`,
    headers,
    body: Buffer.from(JSON.stringify(wrap(objectOf(parse(body.toString('utf8'))) ?? {}, path))),
  };
}
