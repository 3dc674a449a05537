import type { Fault } from '../../base/fault.ts';
import {
  type JsonChange,
  editJsonBytes,
  jsonText,
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  textOf,
} from '../../base/json.ts';
import type { Quantities } from '../../base/quantities.ts';
import type { VendorAnswer, VendorRequest, VendorCall, WholeAdapter } from '../adapter.ts';
import { objectIn } from './reply.ts';
import { jsonHeaders } from './json-request.ts';
import { faultReader, faultWithin, protocolFault, type FaultRule } from './fault.ts';

/**
 * An answer: Cohere's (docs.cohere.com/reference/rerank, 2026-08), with the members for results and
 * tokens of other vendors.
 */
interface RerankAnswer {
  readonly id: string;
  readonly results: readonly RankedDocument[];
  readonly data: readonly RankedDocument[];
  readonly usage: { readonly total_tokens: number; readonly prompt_tokens: number };
  readonly tokens: RerankTokens;
  readonly meta: { readonly billed_units: BilledUnits; readonly tokens: RerankTokens };
}

/** A document by its place in the request (same page). */
interface RankedDocument {
  readonly index: number;
  readonly relevance_score: number;
}

/** The tokens of an answer (same page). */
interface RerankTokens {
  readonly input_tokens: number;
}

/** The units that Cohere charges (same page). */
interface BilledUnits extends RerankTokens {
  readonly search_units: number;
}

/** A request's members that are read (same page). */
interface RerankRequest {
  readonly documents: readonly unknown[];
  readonly return_documents?: boolean;
}

/**
 * How a vendor departs from the format that Cohere and Jina share. Each entry cites its page and
 * date.
 */
export interface RerankQuirks {
  readonly path?: (call: VendorCall) => string;
  /** Renamed members: client's name → vendor's name. */
  readonly rename?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
  /** Members that the vendor requires beside the client's. */
  readonly fixed?: JsonObject;
  /**
   * The number of documents in a unit, if the vendor reports no units but is known to charge one
   * for each such number begun.
   */
  readonly documentsAUnit?: number;
  readonly faults?: readonly FaultRule[];
}

/**
 * The wire format of `/rerank`: `{query, documents, top_n}` in, indexes by relevance out. The
 * adapter puts the client's own documents into the answer.
 */
export function rerank(quirks: RerankQuirks = {}): WholeAdapter {
  const { faults = [] } = quirks;
  return {
    ask: (call) => ask(call, quirks),
    read: (reply, _, call) => read(reply, call, quirks),
    fault: faultReader(faults),
  };
}

/** A document is a text, or an object that has one. */
const documentText = (document: unknown): string =>
  textOf(document) ?? textOf(objectOf(document)?.['text']) ?? '';

function ask(
  call: VendorCall,
  { path = () => '/rerank', rename = {}, drop = [], fixed = {} }: RerankQuirks,
): VendorRequest {
  const { documents: given }: Documented<RerankRequest> = call.body;
  const documents = listOf(given);
  const changes: JsonChange[] = [
    { path: ['model'], ...(drop.includes('model') ? {} : { json: jsonText(call.upstreamModel) }) },
  ];
  for (const name of ['return_documents', ...drop])
    if (name !== 'model') changes.push({ path: [name] });
  for (const [from, to] of Object.entries(rename))
    if (call.body[from] !== undefined) changes.push({ path: [from], name: to });
  for (const [name, value] of Object.entries(fixed))
    changes.push({ path: [name], json: jsonText(value) });
  if (documents.some(isObject))
    changes.push({ path: ['documents'], json: jsonText(documents.map(documentText)) });
  return {
    path: path(call),
    headers: jsonHeaders,
    body: editJsonBytes(call.bytes, changes, call.skeleton),
  };
}

function read(
  reply: Buffer,
  call: VendorCall<RerankRequest>,
  quirks: RerankQuirks,
): VendorAnswer | Fault {
  const body: Documented<RerankAnswer> | undefined = objectIn(reply);
  if (body === undefined) return protocolFault('an answer that is no JSON object');
  const fault = faultWithin(body, quirks.faults ?? []);
  if (fault) return fault;
  const ranked = body.results ?? body.data;
  if (!Array.isArray(ranked)) return protocolFault('an answer without results');
  const documents = listOf(call.body.documents);
  const results: JsonObject[] = [];
  for (const one of listOf(ranked)) {
    const index = countOf(objectOf(one)?.index);
    const relevance_score = numberOf(objectOf(one)?.relevance_score);
    if (index === undefined || index >= documents.length || relevance_score === undefined)
      return protocolFault('a result without its place');
    const shown =
      call.body.return_documents === true
        ? { document: { text: documentText(documents[index]) } }
        : {};
    results.push({ index, relevance_score, ...shown });
  }
  const tokens = tokensIn(body);
  const units =
    unitsIn(body) ?? (quirks.documentsAUnit && Math.ceil(documents.length / quirks.documentsAUnit));
  const answer = {
    id: call.answerId,
    model: call.publicModel,
    results,
    ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    ...(units === undefined ? {} : { meta: { billed_units: { search_units: units } } }),
  };
  return {
    body: Buffer.from(JSON.stringify(answer)),
    quantities: quantitiesOf(tokens, units),
    upstreamId: textOf(body.id),
    outputText: '',
  };
}

function quantitiesOf(
  input: number | undefined,
  request: number | undefined,
): Quantities | undefined {
  if (input === undefined && request === undefined) return undefined;
  return {
    ...(input === undefined ? {} : { input }),
    ...(request === undefined ? {} : { request }),
  };
}

const billedIn = (body: Documented<RerankAnswer>): Documented<BilledUnits> =>
  objectOf(objectOf(body.meta)?.billed_units) ?? {};

/** Cohere's search units: one for a query and a hundred documents. */
function unitsIn(body: Documented<RerankAnswer>): number | undefined {
  const units = countOf(billedIn(body).search_units);
  return units === 0 ? undefined : units;
}

/**
 * The tokens, from any place where a vendor reports them: `usage`, SiliconFlow's `meta.tokens` or
 * `tokens`, or the billed units.
 */
function tokensIn(body: Documented<RerankAnswer>): number | undefined {
  const usage = objectOf(body.usage) ?? {};
  const apart = objectOf(objectOf(body.meta)?.tokens) ?? objectOf(body.tokens) ?? {};
  for (const count of [
    usage.total_tokens,
    usage.prompt_tokens,
    apart.input_tokens,
    billedIn(body).input_tokens,
  ]) {
    const tokens = countOf(count);
    if (tokens !== undefined && tokens > 0) return tokens;
  }
  return undefined;
}
