import { promptTokens } from '../answer.ts';
import type { Reply } from '../dialect.ts';
import { type Json, list, object, objectIn } from '../json.ts';
import { type ModelRequest, modelRequest, type OwnCall } from '../own-format.ts';
import { readRequest } from '../request.ts';
import { scenarioOf, withoutScenarios } from '../scenario.ts';
import { geminiMessages, vertexMessages } from './messages.ts';
import { imagen, imageComplaint, imageWriter, wantsImage } from './images.ts';
import { hasOwnTools } from './checked.ts';
import { modelFacts, type ModelFacts, thinksUnasked } from './model.ts';
import { ProtoReader } from './proto.ts';
import { malformed, status, type Surface, unknownModel, unreadable } from './refusal.ts';
import { embedding } from '../vectors/google.ts';
import { asChat } from './request.ts';
import { complaintOf, tooLarge } from './rules.ts';
import { googleWriter } from './write.ts';

const readers = {
  gemini: new ProtoReader(geminiMessages),
  vertex: new ProtoReader(vertexMessages),
};

/** Names of Google's models; a scenario alone counts as a model. */
const known = /^(?:gemini-|gemma-|learnlm-|sim-)/;

/** One call of a model's method, after authentication. `id`: the model with its scenario. */
export function callModel(
  call: OwnCall,
  id: string,
  method: string,
  surface: Surface,
): Reply | ModelRequest {
  const beside = imagen(call, id, method, surface) ?? embedding(call, id, method, surface);
  if (beside !== undefined) return beside;
  if (
    !['generateContent', 'streamGenerateContent', 'countTokens'].includes(method) ||
    !known.test(id)
  )
    return unknownModel(surface, id, method);
  const large = tooLarge(call.body.length);
  if (large !== undefined) return large;
  const sent = objectIn(call.body);
  if (sent === undefined) return unreadable(call.body);
  if (method === 'countTokens') return count(sent, id, surface);
  const { value: raw, violations } = readers[surface.api].read('GenerateContentRequest', sent);
  if (violations.length > 0) return malformed(violations);
  const model = modelFacts(withoutScenarios(id));
  const streams = method === 'streamGenerateContent';
  const complaint = complaintOf({ raw, model, surface, streams });
  if (complaint !== undefined) return complaint;
  if (wantsImage(raw))
    return (
      imageComplaint(raw, model) ??
      modelRequest(id, asChat(raw, id, false), false, imageWriter(raw, id))
    );
  const config = object(raw['generationConfig']);
  const writer = googleWriter({
    model,
    surface,
    includeThoughts: object(config['thinkingConfig'])['includeThoughts'] === true,
    topLogprobs: config['responseLogprobs'] === true ? Number(config['logprobs'] ?? 0) : undefined,
    toolUse: hasOwnTools(raw) ? toolUseTokens : 0,
    sse: call.query.get('alt') === 'sse',
  });
  return modelRequest(id, asChat(raw, id, streams), thinks(config, model), writer);
}

/** Tokens that the vendor's own search reads. */
const toolUseTokens = 57;

function thinks(config: Json, model: ModelFacts): boolean {
  const { thinkingBudget, thinkingLevel } = object(config['thinkingConfig']);
  if (model.thinking.kind === 'none' || thinkingBudget === 0 || thinkingLevel === 'MINIMAL')
    return false;
  return thinkingBudget !== undefined || thinkingLevel !== undefined || thinksUnasked(model);
}

function count(sent: Json, id: string, surface: Surface): Reply {
  const { value, violations } = readers[surface.api].read('CountTokensRequest', sent);
  if (violations.length > 0) return malformed(violations);
  const inner = object(value['generateContentRequest']);
  if ('generateContentRequest' in value && 'contents' in value)
    return status(400, 'contents and generateContentRequest are mutually exclusive.');
  const raw = 'contents' in value ? value : inner;
  if (list(raw['contents']).length === 0)
    return status(400, '* CountTokensRequest.contents: contents is not specified\n');
  const request = readRequest(asChat(raw, id, false), withoutScenarios(id));
  const refused = scenarioOf(id).refuse;
  if (refused === 'unknown_model') return unknownModel(surface, id, 'countTokens');
  const totalTokens = promptTokens(request);
  const characters = request.messages.reduce(
    (total, message) => total + message.text.replace(/\s/g, '').length,
    0,
  );
  return {
    status: 200,
    body: {
      totalTokens,
      ...(surface.api === 'vertex' && { totalBillableCharacters: characters }),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }],
    },
  };
}
