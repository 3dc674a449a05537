import { isObject } from '../../base/json.ts';
import type { Measure, Quantities } from '../../base/quantities.ts';
import { costOf, inputTokens, outputTokens } from '../../catalog/price.ts';
import type { Model } from '../../catalog/snapshot.ts';
import { type Admission, countText, sizeInTokens } from '../admit.ts';
import { isGenerateVendorTool } from '../../providers/billable-features.ts';
import type { ApiRequest } from '../api-request.ts';
import { outputLimit } from '../models/offers.ts';

/**
 * The most that a request can have cost, whatever its vendor reports. The figures are measured over
 * recorded traffic: docs/decisions/0021-bounded-by-the-request.md.
 */

/**
 * A vendor's tokenizer may count up to this many times the tokens that ours counts for the same
 * text.
 */
const tokenizersDiffer = 2;
/**
 * Tokens that a vendor may put before the client's text: its system prompt, the prompts of tools, a
 * schema as text.
 */
const tokensAdded = 2_048;
/**
 * One image at its highest price: gpt-4o-mini, 8 tiles
 * (developers.openai.com/api/docs/guides/images-vision, 2026-08).
 */
const tokensPerImage = 49_152;
/** Some vendors raise a smaller output limit to this one (recorded: Azure, OpenRouter). */
export const vendorOutputTokensMin = 16;
/** The context of a model for which the catalog has none. */
const contextUnknown = 1_048_576;
/**
 * How often a vendor that runs tools may run its model for one answer (platform.claude.com/docs,
 * server tools, 2026-08).
 */
const roundsMax = 10;
/**
 * Images and audio cost at most this many times the amount that was reserved for them: vendors
 * round up.
 */
const sizedFactor = 2n;

/**
 * Members of client formats that add no input beside the text that is counted. With any other
 * member, the input cannot be counted.
 */
const counted: ReadonlySet<string> = new Set(
  `model messages system instructions input max_tokens max_completion_tokens max_output_tokens n best_of echo suffix
  temperature top_p top_k top_a min_p seed stop stop_sequences stream stream_options frequency_penalty presence_penalty
  repetition_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls functions function_call
  response_format text output_config reasoning reasoning_effort thinking verbosity modalities audio prediction
  metadata user safety_identifier store background include truncation service_tier prompt_cache_key
  prompt_cache_retention cache_control dimensions encoding_format input_type query documents top_n
  return_documents contents systemInstruction system_instruction toolConfig tool_config safetySettings
  safety_settings generationConfig generation_config labels content requests taskType task_type
  title outputDimensionality output_dimensionality`.split(/\s+/),
);
/** Types of tools that the client itself runs, in all formats. */
const clientToolTypes: ReadonlySet<unknown> = new Set([undefined, null, 'function', 'custom']);

/** The members of a funded request on which its bound depends. */
export interface BoundBasis {
  readonly request: ApiRequest;
  readonly admitted: Admission;
  readonly funds: {
    readonly outputTokensMax: number;
    readonly thinkingTokensMax: number;
    readonly readsBeyond: boolean;
  };
}

/** The quantities that are charged. */
export interface BoundedUsage {
  readonly quantities: Quantities;
  /** What the vendor reported, where that is more. */
  readonly reported?: Quantities | undefined;
}

/**
 * The most output tokens that an answer can have: the client's limit, else the model's, for each
 * choice.
 */
export function outputTokensMaxOf(request: ApiRequest, admitted: Admission): number {
  const { model } = admitted.offer;
  const limit = Math.max(
    outputLimit(request, model) ?? writtenTokensMaxOf(model),
    vendorOutputTokensMin,
  );
  return (
    limit * Math.max(1, request.choices) * roundsOf(request, admitted) +
    (admitted.quote?.outputBeyond ?? 0)
  );
}

/**
 * The most thinking tokens beyond `outputTokensMaxOf`, where a vendor's models think beyond the
 * client's limit.
 */
export const thinkingTokensMaxOf = (request: ApiRequest, admitted: Admission): number =>
  writtenTokensMaxOf(admitted.offer.model) *
  Math.max(1, request.choices) *
  roundsOf(request, admitted);

const writtenTokensMaxOf = ({ outputTokensMax, context = contextUnknown }: Model): number =>
  outputTokensMax ?? context;

/**
 * Whether the quantities are within the bound by its cheap estimate: a few additions, and no text
 * is counted.
 */
export function isWithin(funded: BoundBasis, quantities: Quantities): boolean {
  const { request, admitted } = funded;
  if (request.sized !== undefined) return isWithinSize(funded, quantities);
  return (
    inputTokens(quantities) <= admitted.textTokens + admitted.media.inputTokens + tokensAdded &&
    outputExcess(funded, quantities) <= 0 &&
    (quantities.request ?? 0) <= unitsOf(request)
  );
}

/**
 * The part of the reported quantities that may be charged, after `isWithin` has returned false. The
 * input is counted now.
 */
export async function boundUsage(funded: BoundBasis, reported: Quantities): Promise<BoundedUsage> {
  const { request } = funded;
  if (request.sized !== undefined) return { quantities: request.sized.most, reported };
  const input = await inputTokensMaxOf(funded, reported);
  let quantities = cut(reported, inputClasses, inputTokens(reported) - input);
  quantities = cut(quantities, outputClasses, outputExcess(funded, reported));
  quantities = cut(quantities, ['request'], (reported.request ?? 0) - unitsOf(request));
  return quantities === reported ? { quantities } : { quantities, reported };
}

/**
 * Our own estimate without the output beyond the bound. Its input is our count, and needs no bound.
 */
export const withinLimit = (funded: BoundBasis, estimated: Quantities): Quantities =>
  cut(estimated, outputClasses, outputExcess(funded, estimated));

function outputExcess({ funds }: BoundBasis, quantities: Quantities): number {
  return (
    outputTokens(quantities) -
    Math.min(quantities.reasoning ?? 0, funds.thinkingTokensMax) -
    funds.outputTokensMax
  );
}

/** The most input tokens. The vendor may have made one call for each choice. */
async function inputTokensMaxOf(
  { request, admitted, funds }: BoundBasis,
  reported: Quantities,
): Promise<number> {
  const { context } = admitted.offer.model;
  const rounds = roundsOf(request, admitted);
  if (funds.readsBeyond || !isCountable(request)) return (context ?? contextUnknown) * rounds;
  const bySize = sizeInTokens(request);
  const calls = Math.max(1, request.choices);
  const beside = request.mediaCount * tokensPerImage + tokensAdded;
  // Counting takes time: it is left out where the size alone decides.
  if (inputTokens(reported) <= (bySize + beside) * calls) return (bySize + beside) * calls;
  const text = await countText(admitted, request);
  return (Math.max(bySize, text * tokenizersDiffer) + beside) * calls;
}

/** Whether the request holds all that a model reads, as text or as images. */
export function isCountable({
  body,
  media,
  capability,
}: Pick<ApiRequest, 'body' | 'media' | 'capability'>): boolean {
  for (const kind of media.keys()) if (kind !== 'image') return false;
  for (const member in body) {
    if (counted.has(member) || body[member] == null) continue;
    // `prompt` is the text of a completion. In other formats it names a prompt that the vendor
    // keeps.
    if (member !== 'prompt' || capability !== 'completions') return false;
  }
  return !usesVendorTools(body);
}

/**
 * How often a model may be run for one answer. A quote also knows of other models and of
 * compaction.
 */
const roundsOf = ({ body }: ApiRequest, { quote }: Admission): number =>
  quote?.runsOften === true || usesVendorTools(body) ? roundsMax : 1;

/** Whether the request has tools, or MCP servers, that the vendor runs. */
export function usesVendorTools({ tools, mcp_servers: servers }: ApiRequest['body']): boolean {
  if (Array.isArray(servers) && servers.length > 0) return true;
  return Array.isArray(tools) ? tools.some(isVendorTool) : isObject(tools) && isVendorTool(tools);
}

/** In one format tools have no type, and a single one may stand without a list. */
function isVendorTool(tool: unknown): boolean {
  const type = typeOf(tool);
  return type === undefined
    ? isObject(tool) && isGenerateVendorTool(tool)
    : !clientToolTypes.has(type);
}

const typeOf = (tool: unknown): unknown =>
  typeof tool === 'object' && tool !== null && 'type' in tool ? tool.type : undefined;

const unitsOf = ({ units = 1 }: ApiRequest): number => units;

function isWithinSize(
  { admitted, request: { sized } }: BoundBasis,
  quantities: Quantities,
): boolean {
  if (sized === undefined) return true;
  const { tariff } = admitted;
  const most = costOf(tariff, sized.most, admitted.variant).total;
  return costOf(tariff, quantities, admitted.variant).total <= most * sizedFactor;
}

/** The dearer classes come first: the excess is taken from them, to the user's advantage. */
const inputClasses: readonly Measure[] = [
  'audio_input',
  'image_input',
  'cache_write_1h',
  'cache_write_5m',
  'input',
  'cached_input',
];
const outputClasses: readonly Measure[] = ['audio_output', 'image_output', 'output', 'reasoning'];

/**
 * Takes `excess` off these classes, one after the other. Without an excess it returns the same
 * object.
 */
function cut(quantities: Quantities, classes: readonly Measure[], excess: number): Quantities {
  if (excess <= 0) return quantities;
  const left: Partial<Record<Measure, number>> = { ...quantities };
  let rest = excess;
  for (const measure of classes) {
    const taken = Math.min(rest, left[measure] ?? 0);
    if (taken === 0) continue;
    left[measure] = (left[measure] ?? 0) - taken;
    rest -= taken;
  }
  return left;
}
