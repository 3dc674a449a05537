import type { Fault } from '../../../base/fault.ts';
import type { VendorAnswer, VendorRequest, VendorCall, WholeAdapter } from '../../adapter.ts';
import { uriEncoded } from '../../../base/sigv4.ts';
import { converseException, converseFault } from '../bedrock-converse/fault.ts';
import { cohereEmbedBody, cohereEmbedMembers, cohereTextsMax, readCohereEmbed } from './cohere.ts';
import { notSent } from '../../not-sent.ts';
import {
  embeddingsMembers,
  embeddingsParts,
  type EmbeddingsRequest,
  textsOf,
  vectorsAnswer,
} from './vectors.ts';
import {
  type Documented,
  isObject,
  type JsonObject,
  parse,
  rawElements,
  rawMembers,
  textOf,
} from '../../../base/json.ts';
import { protocolFault } from '../fault.ts';
import { rerank } from '../rerank.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn } from '../reply.ts';

/** An answer, beside its vector (model-parameters-titan-embed-text.html, 2026-08). */
interface TitanAnswer {
  readonly inputTextTokenCount: number;
}

/** A request; clients may write Nova's name of the purpose (embeddings-schema.html, 2026-08). */
interface NovaRequest extends EmbeddingsRequest {
  readonly embedding_purpose?: string;
}

/** InvokeModel takes each model's own format. */
export const invokePath = ({ upstreamModel }: VendorCall): string =>
  `/model/${uriEncoded(upstreamModel)}/invoke`;

interface Family {
  readonly models: RegExp;
  readonly textsMax: number;
  /** The vendor's own members that a client may write. */
  readonly members: readonly string[];
  readonly body: (call: VendorCall) => JsonObject;
  readonly read: (reply: Buffer, call: VendorCall) => VendorAnswer | Fault;
}

const textOfOne = (call: VendorCall<EmbeddingsRequest>): string | undefined => textsOf(call)[0];

/**
 * docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html, 2026-08: one
 * text at a time; vectors have length one by default.
 */
const titan: Family = {
  models: /titan-embed/,
  textsMax: 1,
  members: [],
  body: (call: VendorCall<EmbeddingsRequest>) => ({
    inputText: textOfOne(call),
    ...(call.body.dimensions != null && { dimensions: call.body.dimensions }),
  }),
  read(reply, call) {
    const body: Documented<TitanAnswer> | undefined = objectIn(reply);
    const vector =
      body === undefined ? undefined : rawMembers(reply.toString('latin1').trim()).get('embedding');
    if (body === undefined || vector === undefined) return refusedIn(body);
    return vectorsAnswer(call, [vector], body.inputTextTokenCount);
  },
};

/**
 * docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html, 2026-08: one text at a time;
 * only a header reports its tokens.
 */
const nova: Family = {
  models: /nova[\w.-]*embed/,
  textsMax: 1,
  members: ['embedding_purpose'],
  body: (call: VendorCall<NovaRequest>) => ({
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: textOf(call.body.embedding_purpose) ?? 'GENERIC_INDEX',
      ...(call.body.dimensions != null && { embeddingDimension: call.body.dimensions }),
      text: { truncationMode: 'END', value: textOfOne(call) },
    },
  }),
  read(reply, call) {
    const body = parse(reply.toString('utf8'));
    const embeddings = isObject(body)
      ? rawMembers(reply.toString('latin1').trim()).get('embeddings')
      : undefined;
    const vectors = rawElements(embeddings).flatMap(
      (item) => rawMembers(item).get('embedding') ?? [],
    );
    return vectors.length === 0 ? refusedIn(body) : vectorsAnswer(call, vectors, undefined);
  },
};

/** docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html, 2026-08. */
const cohere: Family = {
  models: /cohere\.embed/,
  textsMax: cohereTextsMax,
  members: cohereEmbedMembers,
  body: cohereEmbedBody,
  read: readCohereEmbed,
};

const families = [nova, cohere, titan];

const familyOf = ({ upstreamModel }: VendorCall): Family =>
  families.find(({ models }) => models.test(upstreamModel)) ?? titan;

const refusedIn = (body: unknown): Fault =>
  isObject(body) && 'message' in body
    ? converseException('', body)
    : protocolFault('an answer without vectors');

/** Embedding models behind Bedrock's InvokeModel. */
export const bedrockEmbeddings: WholeAdapter = {
  textOnly: true,
  split: (call) => embeddingsParts(call, familyOf(call).textsMax),
  ask: (call): VendorRequest => ({
    path: invokePath(call),
    headers: jsonHeaders,
    body: Buffer.from(JSON.stringify(familyOf(call).body(call))),
    dropped: notSent(call, embeddingsMembers, familyOf(call).members),
  }),
  read: (reply, _, call) => familyOf(call).read(reply, call),
  fault: converseFault,
};

/**
 * Cohere's and Amazon's rerankers behind InvokeModel
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-rerank.html, 2026-08), billed for
 * every hundred documents begun.
 */
export const bedrockRerank: WholeAdapter = {
  ...rerank({ path: invokePath, fixed: { api_version: 2 }, drop: ['model'], documentsAUnit: 100 }),
  fault: converseFault,
};
