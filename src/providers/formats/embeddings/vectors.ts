import assert from 'node:assert/strict';
import {
  jsonText,
  editJsonBytes,
  countOf,
  listOf,
  parse,
  rawElements,
  rawMembers,
  rawText,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import type { VendorAnswer, VendorCall, SplitCall } from '../../adapter.ts';
import { totalQuantities } from '../adapters.ts';

/** A request's members that are read (developers.openai.com/api/reference/embeddings, 2026-08). */
export interface EmbeddingsRequest {
  readonly input: string | readonly unknown[];
  readonly encoding_format?: string;
  readonly dimensions?: number;
}

/** The members that every vendor gets, and the encoding, which Tollgate converts itself. */
export const embeddingsMembers = ['model', 'input', 'encoding_format', 'dimensions'];

/**
 * The encoding that a client requested: numbers, or float32, little-endian, in base64
 * (developers.openai.com/api/reference/embeddings, 2026-08). OpenAI's packages request base64 by
 * default.
 */
export type Encoding = 'float' | 'base64';

export const encodingOf = ({ body }: Pick<VendorCall<EmbeddingsRequest>, 'body'>): Encoding =>
  body.encoding_format === 'base64' ? 'base64' : 'float';

const quote = 0x22;

/** A vector's JSON text in the client's encoding; unchanged if it came in that encoding. */
export function vectorText(raw: string, encoding: Encoding): string {
  const isBase64 = raw.charCodeAt(0) === quote;
  if (isBase64 === (encoding === 'base64')) return raw;
  return isBase64 ? numbersText(floatsIn(bytesIn(raw))) : base64Text(listOf(parse(raw)));
}

/** The same for a vendor whose base64 holds one signed byte for each dimension. */
export const byteVectorText = (raw: string, encoding: Encoding): string =>
  vectorText(
    raw.charCodeAt(0) === quote ? numbersText(new Int8Array(bytesIn(raw))) : raw,
    encoding,
  );

const bytesIn = (raw: string): Buffer =>
  Buffer.from(raw.slice(1, -1).replaceAll('\\/', '/'), 'base64');

/**
 * Floats are read one by one: a pooled buffer may begin at any address, a Float32Array only at
 * multiples of four. This also works for any byte order of the machine.
 */
function floatsIn(bytes: Buffer): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const floats = new Float32Array(bytes.length >> 2);
  for (let i = 0; i < floats.length; i++) floats[i] = view.getFloat32(i * 4, true);
  return floats;
}

const numbersText = (numbers: Iterable<number>): string => JSON.stringify(Array.from(numbers));

function base64Text(numbers: readonly unknown[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4));
  for (let i = 0; i < numbers.length; i++) view.setFloat32(i * 4, Number(numbers[i]), true);
  return `"${Buffer.from(view.buffer).toString('base64')}"`;
}

/**
 * The client's inputs as texts, for vendors that take text only (`textOnly`): tokens have been
 * decoded before.
 */
export function textsOf({ body: { input } }: VendorCall<EmbeddingsRequest>): readonly string[] {
  const all: readonly unknown[] = Array.isArray(input) ? input : [input];
  return all.map((one) => {
    assert(typeof one === 'string', 'a vendor that reads text alone says so');
    return one;
  });
}

/** The vendor's numbers without white space: some vendors write each on a line of its own. */
const compact = (raw: string): string => raw.replace(/\s+/g, '');

/**
 * Writes an answer in the client's encoding. `vectors`: JSON texts as the vendor wrote them, in the
 * order of the inputs. `tokens`: the vendor's count.
 */
export function vectorsAnswer(
  call: VendorCall,
  vectors: readonly string[],
  tokens: unknown,
  upstreamId?: string,
): VendorAnswer {
  const encoding = encodingOf(call);
  const items = vectors.map(
    (raw, i) =>
      `{"object":"embedding","index":${i},"embedding":${vectorText(compact(raw), encoding)}}`,
  );
  const input = countOf(tokens);
  const quantities: Quantities | undefined = input === undefined ? undefined : { input };
  const usage = input === undefined ? '' : `,"usage":${vectorUsageText(input)}`;
  const body = `{"object":"list","data":[${items.join(',')}],"model":${jsonText(call.publicModel)}${usage}}`;
  return { body: Buffer.from(body, 'latin1'), quantities, upstreamId, outputText: '' };
}

export const vectorUsageText = (input: number): string =>
  `{"prompt_tokens":${input},"total_tokens":${input}}`;

/**
 * Splits a request that has more inputs than the vendor takes at a time. An array of numbers is one
 * input: tokens.
 */
export function embeddingsParts(call: VendorCall, inputsMax: number): SplitCall | undefined {
  const { input } = call.body;
  if (!Array.isArray(input) || input.length <= inputsMax || typeof input[0] === 'number')
    return undefined;
  const frame = editJsonBytes(call.bytes, [{ path: ['input'], json: '0' }], call.skeleton);
  const calls: VendorCall[] = [];
  for (let at = 0; at < input.length; at += inputsMax) {
    const some = input.slice(at, at + inputsMax);
    calls.push({
      ...call,
      body: { ...call.body, input: some },
      bytes: editJsonBytes(frame, [{ path: ['input'], json: jsonText(some) }]),
    });
  }
  return { calls, join: joined };
}

/**
 * Joins the answers of all parts: the vectors are renumbered, other members are the first part's.
 */
function joined(answers: readonly VendorAnswer[]): VendorAnswer {
  const items: string[] = [];
  const tops = answers.map(({ body }) => rawMembers(body.toString('latin1')));
  for (const top of tops)
    for (const item of rawElements(top.get('data')))
      items.push(rawText(rawMembers(item).set('index', String(items.length))));
  const quantities = totalQuantities(answers);
  const [top = new Map<string, string>()] = tops;
  top.set('data', `[${items.join(',')}]`);
  if (quantities === undefined) top.delete('usage');
  else
    top.set(
      'usage',
      vectorUsageText(Object.values(quantities).reduce((total, amount) => total + amount, 0)),
    );
  return {
    body: Buffer.from(rawText(top), 'latin1'),
    quantities,
    upstreamId: answers[0]?.upstreamId,
    outputText: '',
  };
}
