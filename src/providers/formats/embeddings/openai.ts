import type { Fault } from '../../../base/fault.ts';
import {
  type JsonChange,
  editJson,
  editJsonBytes,
  jsonText,
  countOf,
  type Documented,
  isObject,
  objectOf,
  parse,
  type Raw,
  rawInside,
  rawMembers,
  isPresent,
  textOf,
} from '../../../base/json.ts';
import type { VendorAnswer, VendorRequest, VendorCall, WholeAdapter } from '../../adapter.ts';
import { setAmong } from '../../not-sent.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from '../fault.ts';
import { acceptsValue, type DroppedMember } from '../openai-chat/quirks.ts';
import { readUsage, type ChatUsage } from '../openai-chat/response.ts';
import { jsonHeaders } from '../json-request.ts';
import { objectIn, noObject } from '../reply.ts';
import {
  embeddingsParts,
  byteVectorText,
  encodingOf,
  vectorText,
  textsOf,
  vectorsAnswer,
} from './vectors.ts';

/** The tokens of an answer (developers.openai.com/api/reference/embeddings, 2026-08). */
interface EmbeddingsUsage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
}

/** An answer, beside its vector (volcengine.com/docs/82379/1523520, 2026-08). */
interface OneEmbedding {
  readonly id: string;
  readonly usage: Pick<EmbeddingsUsage, 'prompt_tokens'>;
}

/** How a vendor departs from OpenAI's embeddings. Each entry cites its page and date. */
export interface EmbeddingsQuirks {
  readonly path?: string;
  /** The most inputs that the vendor takes at a time. */
  readonly inputsMax?: number;
  /** The vendor takes text only, not tokens. */
  readonly textOnly?: boolean;
  /** Renamed members: client's name → vendor's name. */
  readonly rename?: Readonly<Record<string, string>>;
  /**
   * Members that the vendor refuses. Tollgate converts the encoding itself if the vendor sends
   * another.
   */
  readonly drop?: readonly DroppedMember[];
  /** The vendor's base64 holds a signed byte for each dimension. */
  readonly bytes?: boolean;
  readonly faults?: readonly FaultRule[];
}

/** For vendors that know no `encoding_format`, or only numbers. */
export const numbersOnly: readonly DroppedMember[] = [{ member: 'encoding_format', but: 'float' }];

/**
 * The wire format of OpenAI's `/embeddings` (developers.openai.com/api/reference/embeddings,
 * 2026-08): the bytes stay the same except for the model and the vendor's departures.
 */
export function openaiEmbeddings(quirks: EmbeddingsQuirks = {}): WholeAdapter {
  const { inputsMax, textOnly } = quirks;
  return {
    textOnly,
    ask: (call) => ask(call, quirks),
    read: (reply, _, call) => read(reply, call, quirks),
    fault: faultReader(quirks.faults),
    ...(inputsMax === undefined ? {} : { split: (call) => embeddingsParts(call, inputsMax) }),
  };
}

function ask(
  call: VendorCall,
  { path = '/embeddings', rename = {}, drop = [] }: EmbeddingsQuirks,
): VendorRequest {
  const { body, bytes, skeleton, upstreamModel } = call;
  const changes: JsonChange[] = [{ path: ['model'], json: jsonText(upstreamModel) }];
  for (const row of drop)
    if (body[row.member] !== undefined && !acceptsValue(row, body[row.member]))
      changes.push({ path: [row.member] });
  for (const [from, to] of Object.entries(rename))
    if (body[from] !== undefined) changes.push({ path: [from], name: to });
  // Tollgate converts the encoding itself.
  const refused = drop.filter(
    (row) => row.member !== 'encoding_format' && !acceptsValue(row, body[row.member]),
  );
  return {
    path,
    headers: jsonHeaders,
    body: editJsonBytes(bytes, changes, skeleton),
    dropped: setAmong(
      call,
      refused.map(({ member }) => member),
    ),
  };
}

function read(reply: Buffer, call: VendorCall, quirks: EmbeddingsQuirks): VendorAnswer | Fault {
  const text = reply.toString('latin1').trim();
  const top = membersOf(text);
  if (top === undefined) return noObject(reply);
  const data = vectorsIn(top.get('data'), call, quirks);
  if (data === undefined) {
    const body = parse(reply.toString('utf8'));
    return (
      (isObject(body) ? faultWithin(body, quirks.faults) : undefined) ??
      protocolFault('an answer without vectors')
    );
  }
  const usage = usageOf(top.get('usage'));
  const upstreamId = textOf(parse(top.get('id') ?? ''));
  for (const name of ['id', 'object', 'data', 'model', 'usage']) top.delete(name);
  const rest = rawInside(top);
  const end = `${usage === undefined ? '' : `,"usage":${usage.json}`}${rest && ','}${rest}}`;
  const body = `{"object":"list","data":${data},"model":${jsonText(call.publicModel)}${end}`;
  return {
    body: Buffer.from(body, 'latin1'),
    quantities: usage?.quantities,
    upstreamId,
    outputText: '',
  };
}

/** The members of an object; undefined when the text is not valid JSON. */
function membersOf(text: string): Raw | undefined {
  try {
    return text.endsWith('}') ? rawMembers(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Matches a member `embedding` whose value is a vector. `"object":"embedding"` does not match, and
 * inside a string the quotes would be escaped.
 */
const vector = /("embedding"\s*:\s*)(\[[^\]]*\]|"[^"]*")/;
const allVectors = new RegExp(vector, 'g');

/**
 * The items in the client's encoding: unchanged if the vendor sent that encoding. Undefined when
 * there are none.
 */
function vectorsIn(
  data: string | undefined,
  call: VendorCall,
  { bytes }: EmbeddingsQuirks,
): string | undefined {
  const first = vector.exec(data ?? '')?.[2];
  if (data === undefined || first === undefined) return undefined;
  const encoding = encodingOf(call);
  if (!bytes && first.startsWith('"') === (encoding === 'base64')) return data;
  const write = bytes ? byteVectorText : vectorText;
  return data.replace(allVectors, (_, name: string, raw: string) => name + write(raw, encoding));
}

/**
 * Reads the usage. Voyage reports the total only, which for embeddings is the input. Members that
 * the vendor sent stay as they are.
 */
function usageOf(text: string | undefined): ChatUsage | undefined {
  if (!isPresent(text)) return undefined;
  const told: Documented<EmbeddingsUsage> = objectOf(parse(text)) ?? {};
  const total = countOf(told.total_tokens);
  const quantities =
    readUsage(text)?.quantities ?? (total === undefined ? undefined : { input: total });
  if (quantities === undefined) return undefined;
  const json = String(Object.values(quantities).reduce((sum, amount) => sum + amount, 0));
  const missing = (['prompt_tokens', 'total_tokens'] as const).filter(
    (name) => countOf(told[name]) === undefined,
  );
  return {
    quantities,
    json: editJson(
      text,
      missing.map((name) => ({ path: [name], json })),
    ),
  };
}

/**
 * `/embeddings/multimodal`: all inputs of a request become one vector
 * (volcengine.com/docs/82379/1523520, 2026-08), so that each text is sent as a request of its own.
 */
export function multimodalEmbeddings({ faults }: Pick<EmbeddingsQuirks, 'faults'>): WholeAdapter {
  return {
    textOnly: true,
    split: (call) => embeddingsParts(call, 1),
    ask(call) {
      const input = textsOf(call).map((text) => ({ type: 'text', text }));
      const changes = [
        { path: ['model'], json: jsonText(call.upstreamModel) },
        { path: ['input'], json: jsonText(input) },
      ];
      return {
        path: '/embeddings/multimodal',
        headers: jsonHeaders,
        body: editJsonBytes(call.bytes, changes, call.skeleton),
      };
    },
    read(reply, _, call) {
      const body: Documented<OneEmbedding> | undefined = objectIn(reply);
      if (body === undefined) return protocolFault('an answer that is no JSON object');
      const vector = rawMembers(rawMembers(reply.toString('latin1').trim()).get('data') ?? '').get(
        'embedding',
      );
      if (vector === undefined)
        return faultWithin(body, faults) ?? protocolFault('an answer without a vector');
      return vectorsAnswer(call, [vector], objectOf(body.usage)?.prompt_tokens, textOf(body.id));
    },
    fault: faultReader(faults),
  };
}
