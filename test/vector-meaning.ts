import type { Recording } from './recorded-traffic.ts';

type Json = Readonly<Record<string, unknown>>;

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Read apart from the adapters: vectors as float32, each rounded alike whichever way it was
 * written.
 */
export interface VectorsMeaning {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number | undefined;
}

const floats = (value: unknown, bytes: boolean): number[] => {
  if (Array.isArray(value)) return value.map((number) => Math.fround(Number(number)));
  const raw = Buffer.from(String(value), 'base64');
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  return bytes
    ? Array.from(raw, (_, i) => view.getInt8(i))
    : Array.from({ length: raw.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
};

const count = (...among: readonly unknown[]): number | undefined =>
  among.find((one): one is number => typeof one === 'number');

/**
 * What any vendor's answer says, in whichever of the recorded shapes. `bytes`: its base64 is of
 * signed bytes.
 */
export function vectorsMeaning(text: string, bytes = false): VectorsMeaning {
  const body = object(JSON.parse(text));
  const usage = object(body['usage']);
  const statistics = list(body['predictions']).map(
    (one) => object(object(object(one)['embeddings'])['statistics'])['token_count'],
  );
  const told =
    statistics.length > 0
      ? statistics.reduce<number>((sum, one) => sum + Number(one), 0)
      : undefined;
  const tokens = count(
    usage['prompt_tokens'],
    usage['total_tokens'],
    body['inputTextTokenCount'],
    object(body['usageMetadata'])['promptTokenCount'],
    object(object(body['meta'])['billed_units'])['input_tokens'],
    told,
  );
  return { vectors: found(body).map((value) => floats(value, bytes)), tokens };
}

function found(body: Json): readonly unknown[] {
  if (body['data'] !== undefined)
    return list(body['data']).map((item) => object(item)['embedding']);
  if (body['predictions'] !== undefined)
    return list(body['predictions']).map((one) => object(object(one)['embeddings'])['values']);
  if (body['embedding'] !== undefined) return [body['embedding']];
  const all = Array.isArray(body['embeddings'])
    ? body['embeddings']
    : list(object(body['embeddings'])['float']);
  return all.map((one) =>
    Array.isArray(one) ? one : (object(one)['values'] ?? object(one)['embedding']),
  );
}

/**
 * What a client of /v1/embeddings would have sent for the recorded request, as far as it was
 * recorded.
 */
export function embeddingRequest({ request }: Recording): Record<string, unknown> | undefined {
  if (request === undefined) return undefined;
  const batch = list(request['requests']).map(object);
  const instances = list(request['instances']).map(object);
  const nova = object(request['singleEmbeddingParams']);
  const texts =
    batch.length > 0
      ? batch.map(textOfParts)
      : instances.length > 0
        ? instances.map((one) => one['content'])
        : undefined;
  const input =
    request['input'] ??
    request['texts'] ??
    texts ??
    request['inputText'] ??
    object(nova['text'])['value'] ??
    textOfParts(request);
  const dimensions =
    request['dimensions'] ??
    request['output_dimension'] ??
    batch[0]?.['outputDimensionality'] ??
    object(request['parameters'])['outputDimensionality'] ??
    nova['embeddingDimension'];
  const task = batch[0]?.['taskType'] ?? instances[0]?.['task_type'];
  const { encoding_format, input_type, user } = request;
  const all = { input, dimensions, encoding_format, input_type, user, task_type: task };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined && value !== null),
  );
}

const textOfParts = (one: Json): unknown =>
  object(list(object(one['content'])['parts'])[0])['text'];

/**
 * A vendor's request without what says nothing: nulls, what is so anyway, and what differs between
 * two versions of one vendor's interface.
 */
export function said(request: Json): Json {
  const { normalize, embedding_types, truncation, ...rest } = request;
  void normalize;
  void embedding_types;
  void truncation;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
}
