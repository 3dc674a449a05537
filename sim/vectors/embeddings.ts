import type { Complaint } from '../dialect.ts';
import { type Json, list, number, typeName } from '../json.ts';
import type { Writer } from '../play.ts';
import { countTokens } from '../tokens.ts';
import { vectorOf } from './model.ts';
import { wholeWriter } from './writer.ts';

/** The differences between a vendor's `/embeddings` and OpenAI's. */
export interface EmbeddingRules {
  readonly path?: string;
  readonly inputsMax: number;
  /** It also reads lists of tokens. */
  readonly tokens?: true;
  /** Members that it knows. Absent: it ignores unknown ones. */
  readonly only?: readonly string[];
  readonly encodings?: { readonly member: string; readonly known: readonly string[] };
  readonly dimensions?: string;
  readonly usage?: (tokens: number) => Json;
  /** Vectors are signed bytes, also in base64. */
  readonly bytes?: true;
}

const dimensionsUsual = 1_536;
const dimensionsMax = 4_096;

/** The first error that the vendor finds in a request. */
export function embeddingsComplaint(raw: Json, rules: EmbeddingRules): Complaint | undefined {
  const { input } = raw;
  if (typeof raw['model'] !== 'string' || raw['model'] === '')
    return { message: 'you must provide a model parameter' };
  const stranger = rules.only && Object.keys(raw).find((name) => !rules.only?.includes(name));
  if (stranger !== undefined)
    return { param: stranger, message: `Unrecognized request argument supplied: ${stranger}` };
  return complaintOfInput(input, rules) ?? complaintOfShape(raw, rules);
}

function complaintOfInput(
  input: unknown,
  { inputsMax, tokens }: EmbeddingRules,
): Complaint | undefined {
  const all = typeof input === 'string' ? [input] : list(input);
  const isTokens = (value: unknown): boolean =>
    list(value).length > 0 && list(value).every((token) => Number.isInteger(token));
  if (input === '' || all.length === 0) return { param: 'input', message: "'$.input' is invalid." };
  if (isTokens(input))
    return tokens
      ? undefined
      : { param: 'input', message: 'input should be a string or a list of strings' };
  if (all.length > inputsMax)
    return {
      param: 'input',
      message: `batch size is invalid, it should not be larger than ${inputsMax}.`,
    };
  const bad = all.find((one) =>
    typeof one === 'string' ? one === '' : tokens === undefined || !isTokens(one),
  );
  return bad === undefined
    ? undefined
    : { param: 'input', message: `'$.input' is invalid: ${typeName(bad)}.` };
}

function complaintOfShape(
  raw: Json,
  { encodings, dimensions = 'dimensions' }: EmbeddingRules,
): Complaint | undefined {
  const encoding = encodings && raw[encodings.member];
  if (
    encodings &&
    encoding !== undefined &&
    encoding !== null &&
    !encodings.known.includes(String(encoding))
  )
    return {
      param: encodings.member,
      message: `Invalid value: '${String(encoding)}'. Supported values are: ${encodings.known.join(', ')}.`,
    };
  const size = raw[dimensions];
  if (size === undefined || size === null) return undefined;
  if (!Number.isInteger(size) || Number(size) < 1 || Number(size) > dimensionsMax)
    return {
      param: dimensions,
      message: `${String(size)} is less than the minimum of 1 - '${dimensions}'`,
    };
  return undefined;
}

const inputsOf = (raw: Json): readonly unknown[] =>
  typeof raw['input'] === 'string' || typeof list(raw['input'])[0] === 'number'
    ? [raw['input']]
    : list(raw['input']);

/** Tokens have no text here: their numbers stand for it. */
export const textsOf = (raw: Json): string[] =>
  inputsOf(raw).map((one) => (typeof one === 'string' ? one : list(one).join(' ')));

const tokensOf = (raw: Json): number =>
  inputsOf(raw).reduce<number>(
    (sum, one) => sum + (typeof one === 'string' ? countTokens(one) : list(one).length),
    0,
  );

export function embeddingsWriter(raw: Json, rules: EmbeddingRules): Writer {
  const size = number(raw[rules.dimensions ?? 'dimensions']) ?? dimensionsUsual;
  const base64 = raw[rules.encodings?.member ?? ''] === 'base64';
  const tokens = tokensOf(raw);
  const usage = rules.usage ?? ((count: number) => ({ prompt_tokens: count, total_tokens: count }));
  return wholeWriter(({ id, model, usageReported }) => ({
    object: 'list',
    data: textsOf(raw).map((text, index) => {
      const vector = vectorOf(text, size);
      return {
        object: 'embedding',
        index,
        embedding: rules.bytes ? bytesText(vector) : base64 ? base64Text(vector) : vector,
      };
    }),
    model,
    ...(rules.only === undefined && { id }),
    ...(usageReported && { usage: usage(tokens) }),
  }));
}

const base64Text = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');
const bytesText = (vector: readonly number[]): string =>
  Buffer.from(Int8Array.from(vector, (value) => Math.round(value * 127)).buffer).toString('base64');
