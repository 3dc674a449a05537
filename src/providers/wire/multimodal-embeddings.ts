import { editBytes, jsonText } from '../../base/json-edit.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import type { WholeAdapter } from '../adapter.ts';
import { embeddingsParts } from './embeddings-parts.ts';
import { isObject, objectOf, parse, rawMembers, textOf } from './json.ts';
import { faultOf, faultWithin, protocolFault } from './openai-chat-fault.ts';
import { textsOf, vectorsAnswer } from './vectors.ts';

/**
 * `/embeddings/multimodal`: everything in a request becomes one vector
 * (volcengine.com/docs/82379/1523520, 2026-08), so that each text is a request.
 */
export function multimodalEmbeddings(quirks: Pick<Quirks, 'faults'>): WholeAdapter {
  return {
    textOnly: true,
    parts: (call) => embeddingsParts(call, 1),
    ask(call) {
      const input = textsOf(call).map((text) => ({ type: 'text', text }));
      const changes = [
        { path: ['model'], json: jsonText(call.upstreamModel) },
        { path: ['input'], json: jsonText(input) },
      ];
      return {
        path: '/embeddings/multimodal',
        headers: { 'content-type': 'application/json' },
        body: editBytes(call.bytes, changes),
      };
    },
    read(reply, _, call) {
      const body = parse(reply.toString('utf8'));
      if (!isObject(body)) return protocolFault('an answer that is no JSON object');
      const vector = rawMembers(rawMembers(reply.toString('latin1').trim()).get('data') ?? '').get(
        'embedding',
      );
      if (vector === undefined)
        return faultWithin(body, quirks) ?? protocolFault('an answer without a vector');
      return vectorsAnswer(
        call,
        [vector],
        objectOf(body['usage'])?.['prompt_tokens'],
        textOf(body['id']),
      );
    },
    fault: (status, headers, reply) => faultOf(status, headers, reply, quirks),
  };
}
