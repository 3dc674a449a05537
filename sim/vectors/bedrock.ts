import type { Complaint } from '../dialect.ts';
import { type Json, number, object, objectIn, text } from '../json.ts';
import { type ModelRequest, modelRequest, type OwnCall } from '../own-format.ts';
import { countTokens } from '../tokens.ts';
import { embedComplaint, embedWriter, embedTexts } from './cohere.ts';
import { vectorOf } from './model.ts';
import { asQuestion, wholeWriter } from './writer.ts';
import { documentsOf, rerankComplaint, rerankWriter } from './rerank.ts';

/**
 * InvokeModel of embedding and rerank models, in their makers' formats; undefined for another
 * operation, a complaint for an invalid request.
 */
export function invoke({ method, path, body }: OwnCall): ModelRequest | Complaint | undefined {
  const id = /^\/model\/([^/]+)\/invoke$/.exec(path)?.[1];
  if (method !== 'POST' || id === undefined) return undefined;
  const named = decodeURIComponent(id);
  const raw = objectIn(body);
  if (raw === undefined)
    return { message: 'Malformed input request, please reformat your input and try again.' };
  if (/cohere\.rerank/.test(named)) return rerank(named, raw);
  if (/cohere\.embed/.test(named))
    return (
      embedComplaint(raw) ??
      modelRequest(named, asQuestion(embedTexts(raw)), false, embedWriter(raw, false))
    );
  if (/nova[\w.-]*embed/.test(named)) return nova(named, raw);
  if (/titan-embed|^sim-/.test(named)) return titan(named, raw);
  return { message: 'The provided model identifier is invalid.' };
}

function rerank(named: string, raw: Json): ModelRequest | Complaint {
  const { api_version: version, ...rest } = raw;
  if (version !== 2) return { message: '#: required key [api_version] not found' };
  const rules = {
    documentsMax: 1_000,
    only: ['query', 'documents', 'top_n', 'max_tokens_per_doc'],
    texts: true as const,
    cost: () => ({}),
  };
  return (
    rerankComplaint(rest, rules) ??
    modelRequest(named, asQuestion(documentsOf(rest)), false, rerankWriter(rest, rules))
  );
}

const extraneous = (raw: Json, known: readonly string[]): Complaint | undefined => {
  const stranger = Object.keys(raw).find((name) => !known.includes(name));
  return stranger === undefined
    ? undefined
    : {
        message: `Malformed input request: #: extraneous key [${stranger}] is not permitted, please reformat your input and try again.`,
      };
};

function titan(named: string, raw: Json): ModelRequest | Complaint {
  const first = /-v1\b/.test(named);
  const stranger = extraneous(
    raw,
    first ? ['inputText'] : ['inputText', 'dimensions', 'normalize', 'embeddingTypes'],
  );
  if (stranger !== undefined) return stranger;
  const input = text(raw['inputText']);
  if (input === undefined || input === '')
    return {
      message:
        'Malformed input request: expected minLength: 1, actual: 0, please reformat your input and try again.',
    };
  const size = raw['dimensions'] ?? (first ? 1_536 : 1_024);
  if (!first && ![256, 512, 1_024].includes(Number(size)))
    return { message: `Malformed input request: ${String(size)} is not a valid enum value` };
  const writer = wholeWriter(({ usageReported }) => ({
    embedding: vectorOf(input, Number(size)),
    ...(usageReported && { inputTextTokenCount: countTokens(input) }),
  }));
  return modelRequest(named, asQuestion([input]), false, writer);
}

function nova(named: string, raw: Json): ModelRequest | Complaint {
  const rest = object(raw['singleEmbeddingParams']);
  const value = text(object(rest['text'])['value']);
  if (
    raw['taskType'] !== 'SINGLE_EMBEDDING' ||
    value === undefined ||
    rest['embeddingPurpose'] === undefined
  )
    return {
      message: 'Malformed input request: singleEmbeddingParams needs embeddingPurpose and text.',
    };
  const size = number(rest['embeddingDimension']) ?? 3_072;
  const writer = wholeWriter(() => ({
    embeddings: [{ embeddingType: 'TEXT', embedding: vectorOf(value, size) }],
  }));
  return modelRequest(named, asQuestion([value]), false, writer);
}
