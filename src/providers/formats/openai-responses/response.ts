import {
  type JsonChange,
  editJson,
  jsonText,
  type Documented,
  type JsonObject,
  rawMembers,
  countOf,
  objectOf,
  objectsOf,
  textOf,
} from '../../../base/json.ts';
import type { Measure, Quantities } from '../../../base/quantities.ts';
import type { VendorCall, PricingFacts, UsageItem } from '../../adapter.ts';
import { readUsage } from '../openai-chat/response.ts';
import type {
  CreateResponse,
  ResponseItem,
  ResponseResource,
  ResponseUsage,
  ServerSideToolUsage,
} from './types.ts';

/**
 * Members of a vendor's response that clients must not see: `billing` names the paying party there
 * (recorded 2026-08), `content_filters` holds Azure's filter results.
 */
const hidden = ['billing', 'content_filters'] as const;

/**
 * Turns a vendor's response object (`latin1` JSON text) into the client's: Tollgate's id, the
 * requested model, and the client's members about stored responses (the vendor stores nothing).
 * Everything else keeps its bytes.
 */
export function rewriteResponse(
  text: string,
  call: VendorCall<CreateResponse>,
  path: readonly string[] = [],
): string {
  const { body } = call;
  const changes: JsonChange[] = [
    { path: [...path, 'id'], json: jsonText(call.answerId) },
    { path: [...path, 'model'], json: jsonText(call.publicModel) },
    { path: [...path, 'store'], json: jsonText(body.store ?? true) },
    { path: [...path, 'background'], json: jsonText(body.background ?? false) },
    {
      path: [...path, 'previous_response_id'],
      json: jsonText(body.previous_response_id ?? null),
    },
    ...hidden.map((name) => ({ path: [...path, name] })),
  ];
  return editJson(text, changes);
}

/** The value of the member `name` in the object `text`; `''` when absent. */
export const memberText = (text: string, name: string): string => rawMembers(text).get(name) ?? '';

/** A response that ended because the funds ran out: the output so far, and the reason. */
export function cutResponse(begun: string, output: readonly string[], usage: JsonObject): string {
  return editJson(begun, [
    { path: ['status'], json: '"incomplete"' },
    { path: ['incomplete_details'], json: '{"reason":"max_output_tokens"}' },
    { path: ['output'], json: `[${output.join(',')}]` },
    { path: ['usage'], json: jsonText(usage) },
  ]);
}

/**
 * The quantities of a response beside the tokens of its model: calls of tools that the vendor ran,
 * and generated images. The vendor counts both outside `usage` (OpenAPI description, Response,
 * 2026-11; `tool_usage` recorded 2026-08).
 */
interface ResponseExtras {
  readonly calls: Quantities;
  readonly told: PricingFacts | undefined;
}

/**
 * Item types that are calls of a tool with a fee. Only a web search call that searches has one;
 * opening a found page has none.
 */
const called: Readonly<Record<string, Measure>> = {
  web_search_call: 'web_search',
  x_search_call: 'web_search',
  file_search_call: 'file_search',
  mcp_call: 'mcp_call',
};

/** xAI's counts (docs.x.ai/docs/guides/tools/overview, recorded 2026-08). */
const countedByXai: readonly (readonly [keyof ServerSideToolUsage, Measure])[] = [
  ['web_search_calls', 'web_search'],
  ['x_search_calls', 'web_search'],
  ['file_search_calls', 'file_search'],
  ['document_search_calls', 'file_search'],
  ['code_interpreter_calls', 'code_session'],
  ['mcp_calls', 'mcp_call'],
];

export function responseExtras(
  response: Documented<ResponseResource>,
  own: Quantities | undefined,
): ResponseExtras {
  const usage = objectOf(response.usage) ?? {};
  const details = objectOf(usage.server_side_tool_usage_details);
  const calls: Partial<Record<Measure, number>> = {};
  const add = (measure: Measure, count: number): void => {
    if (count > 0) calls[measure] = (calls[measure] ?? 0) + count;
  };
  const items = objectsOf(response.output);
  if (details)
    for (const [name, measure] of countedByXai) add(measure, countOf(details[name]) ?? 0);
  else for (const [measure, count] of countedItems(items)) add(measure, count);
  const toolUsage = objectOf(response.tool_usage);
  const searches = countOf(objectOf(toolUsage?.web_search)?.num_requests);
  if (searches !== undefined && !details)
    calls.web_search = Math.max(searches, calls.web_search ?? 0);
  if (calls.web_search === 0) delete calls.web_search;
  const painted = paintedPart(
    objectOf(toolUsage?.image_gen),
    items,
    countOf(details?.image_generation_calls),
  );
  const told = painted && own !== undefined ? { items: [{ quantities: own }, painted] } : undefined;
  return { calls, told };
}

/**
 * The quantities of tool calls in the items of an answer that may not be whole; undefined when
 * there are none.
 */
export function toolCallCounts(items: readonly Documented<ResponseItem>[]): Quantities | undefined {
  const response: JsonObject = { output: items };
  const { calls } = responseExtras(response, undefined);
  return Object.keys(calls).length > 0 ? calls : undefined;
}

function countedItems(
  items: readonly Documented<ResponseItem>[],
): readonly (readonly [Measure, number])[] {
  const containers = new Set<string>();
  const counts: [Measure, number][] = [];
  for (const item of items) {
    const type = textOf(item.type) ?? '';
    const measure = called[type];
    const action = textOf(objectOf(item.action)?.type);
    if (
      measure !== undefined &&
      !(type === 'web_search_call' && action !== undefined && action !== 'search')
    )
      counts.push([measure, 1]);
    if (type === 'code_interpreter_call' || type === 'shell_call' || type === 'program_call')
      containers.add(
        textOf(item.container_id) ?? textOf(objectOf(item.environment)?.container_id) ?? '',
      );
  }
  if (containers.size > 0) counts.push(['code_session', containers.size]);
  return counts;
}

/** The tokens of the image model, and the number of images: a price may be by either. */
function paintedPart(
  usage: Documented<ResponseUsage> | undefined,
  items: readonly Documented<ResponseItem>[],
  counted: number | undefined,
): UsageItem | undefined {
  const pictures = items.filter(
    (item) => item.type === 'image_generation_call' && item.status !== 'failed',
  );
  const image = counted ?? pictures.length;
  const input = countOf(usage?.input_tokens) ?? 0;
  const output = countOf(usage?.output_tokens) ?? 0;
  if (image === 0 && input === 0 && output === 0) return undefined;
  const inputDetails = objectOf(usage?.input_tokens_details);
  const outputDetails = objectOf(usage?.output_tokens_details);
  const seen = Math.min(input, countOf(inputDetails?.image_tokens) ?? 0);
  // All output of an image model is images, unless the usage counts text.
  const written = Math.min(output, countOf(outputDetails?.text_tokens) ?? 0);
  const [first] = pictures;
  const size = textOf(first?.size);
  const [, width = 1_024, height = 1_024] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  const megapixel = image * Math.ceil((Number(width) * Number(height)) / (1_024 * 1_024));
  const quantities = {
    input: input - seen,
    image_input: seen,
    output: written,
    image_output: output - written,
    image,
    megapixel,
  };
  const quality = textOf(first?.quality);
  return { isImageUsage: true, quantities, variant: size && quality ? `${size}/${quality}` : size };
}

/** The quantities of a response: its own usage, the image model's tokens, and the tool calls. */
export function withExtras(
  own: Quantities | undefined,
  { calls, told }: ResponseExtras,
): Quantities | undefined {
  if (own === undefined) return undefined;
  const painted = told?.items?.[1]?.quantities;
  const sum: Partial<Record<Measure, number>> = { ...own };
  for (const measure of ['input', 'image_input', 'output', 'image_output'] as const) {
    const more = painted?.[measure] ?? 0;
    if (more > 0) sum[measure] = (sum[measure] ?? 0) + more;
  }
  return { ...sum, ...calls };
}

/**
 * What the model wrote in the items of an answer: the texts whose deltas a stream counts. Ids,
 * types and sealed reasoning are no text of it.
 */
export const outputWords = (output: Documented<ResponseResource>['output']): string =>
  objectsOf(output).map(itemWords).join('');

function itemWords({ summary, content, ...item }: Documented<ResponseItem>): string {
  const parts = [...objectsOf(summary), ...objectsOf(content)];
  const texts = parts.map((part) => textOf(part.text) ?? textOf(part.refusal));
  const call = textOf(item.arguments) ?? textOf(item.input) ?? textOf(item.code);
  return [textOf(content), ...texts, call].join('');
}

/**
 * The quantities of a response's `usage` (developers.openai.com/api/reference/responses, 2026-08).
 * It counts as chat does under other names, so that the same corrections apply.
 */
export function responsesQuantities(
  usage: Documented<ResponseUsage> | undefined,
): Quantities | undefined {
  if (usage === undefined) return undefined;
  const input = usage.input_tokens_details ?? usage.prompt_tokens_details;
  const output = usage.output_tokens_details ?? usage.completion_tokens_details;
  const asChat = {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    ...(objectOf(input) && { prompt_tokens_details: input }),
    ...(objectOf(output) && { completion_tokens_details: output }),
  };
  return readUsage(JSON.stringify(asChat))?.quantities;
}
