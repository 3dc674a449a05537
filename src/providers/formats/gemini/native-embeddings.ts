import {
  countOf,
  editJsonBytes,
  type Documented,
  jsonText,
  listOf,
  objectOf,
} from '../../../base/json.ts';
import type { WholeAdapter } from '../../adapter.ts';
import { protocolFault } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn } from '../reply.ts';
import { geminiFault, geminiFaultWithin } from './fault.ts';
import { modelChanges } from './native.ts';
import { modelPath } from './request.ts';
import type { UsageMetadata } from './types.ts';

/** ai.google.dev/api/embeddings, 2026-11. */
interface EmbedAnswer {
  readonly embedding: { readonly values: readonly number[] };
  readonly embeddings: readonly { readonly values: readonly number[] }[];
  readonly usageMetadata: Pick<UsageMetadata, 'promptTokenCount'>;
}

/**
 * The adapter for clients of `embedContent` and `batchEmbedContents` and a vendor of the same
 * format: the bytes stay the same except for the model. Newer models report their tokens.
 */
export const geminiNativeEmbeddings: WholeAdapter = {
  ask({ body, bytes, skeleton, upstreamModel }) {
    const requests = listOf(body['requests']);
    const method = requests.length > 0 ? 'batchEmbedContents' : 'embedContent';
    const changes = [
      ...modelChanges(body, upstreamModel, []),
      // Each request of a batch has to name the model.
      ...requests.map((_, i) => ({
        path: ['requests', i, 'model'],
        json: jsonText(modelPath(upstreamModel).slice(1)),
      })),
    ];
    return {
      path: `${modelPath(upstreamModel)}:${method}`,
      headers: jsonHeaders,
      body: editJsonBytes(bytes, changes, skeleton),
    };
  },
  read(reply) {
    const body: Documented<EmbedAnswer> | undefined = objectIn(reply);
    if (body === undefined) return protocolFault('an answer that is no JSON object');
    if (objectOf(body.embedding) === undefined && !Array.isArray(body.embeddings))
      return geminiFaultWithin(body) ?? protocolFault('an answer without embeddings');
    const input = countOf(objectOf(body.usageMetadata)?.promptTokenCount);
    return {
      body: reply,
      quantities: input === undefined ? undefined : { input },
      upstreamId: undefined,
      outputText: '',
    };
  },
  fault: geminiFault,
};
