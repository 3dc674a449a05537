import { bearerOf, isWrongKey } from '../api-key.ts';
import { callId, openAiRows, fillRow } from '../dialects/base.ts';
import type { Problem, Reply } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import {
  type ModelRequest,
  modelRequest,
  blankProblem,
  type OwnCall,
  type OwnFormat,
} from '../own-format.ts';
import { endpointAt } from './endpoint.ts';
import { asQuestion } from './writer.ts';
import type { VectorRules } from './rules.ts';

/** A vendor that has only embeddings and reranking. */
function vectorVendor(vendor: string, prefix: string, rules: VectorRules): OwnFormat {
  /** Recorded from Voyage: an error has only a text. */
  const refuse = (problem: Problem): Reply => {
    const { status, message } = fillRow(openAiRows, problem);
    return { status, body: { detail: message } };
  };
  const take = (call: OwnCall): Reply | ModelRequest => {
    const blank = blankProblem(call.url);
    const key = bearerOf(call.headers);
    if (key === undefined || isWrongKey(key)) return refuse({ ...blank, kind: 'wrong_key' });
    const endpoint = call.method === 'POST' ? endpointAt(call.path, rules) : undefined;
    if (endpoint === undefined) return refuse({ ...blank, kind: 'unknown_url' });
    const raw: Json | undefined = objectIn(call.body);
    const complaint =
      raw === undefined ? { message: 'The body is not JSON.' } : endpoint.complaint(raw);
    if (raw === undefined || complaint !== undefined) return refuse({ ...blank, complaint });
    return modelRequest(
      String(raw['model']),
      asQuestion(endpoint.texts(raw)),
      false,
      endpoint.writer(raw),
    );
  };
  return { vendor, prefix, callId, refuse, take };
}

const members = (names: string): readonly string[] => names.split(' ');
const totalUsage = (tokens: number): Json => ({ total_tokens: tokens });

/** docs.voyageai.com/reference, 2026-08. */
export const voyage = vectorVendor('voyage', '/voyage/v1', {
  embeddings: {
    inputsMax: 1_000,
    only: members(
      'input model input_type truncation output_dimension output_dtype encoding_format',
    ),
    encodings: { member: 'encoding_format', known: ['base64'] },
    dimensions: 'output_dimension',
    usage: totalUsage,
  },
  rerank: {
    documentsMax: 1_000,
    only: members('query documents model top_k return_documents truncation'),
    texts: true,
    topN: 'top_k',
    results: 'data',
    cost: (tokens) => ({ usage: totalUsage(tokens) }),
  },
});

/** api.jina.ai/redoc, 2026-08. */
export const jina = vectorVendor('jina', '/jina/v1', {
  embeddings: {
    inputsMax: 512,
    only: members('model input embedding_type task dimensions normalized late_chunking truncate'),
    encodings: { member: 'embedding_type', known: ['float', 'base64', 'binary', 'ubinary'] },
  },
  rerank: { documentsMax: 2_048, cost: (tokens) => ({ usage: totalUsage(tokens) }), returns: true },
});
