import type { StreamedCapability } from '../base/capability.ts';
import {
  type JsonChange,
  jsonText,
  type JsonPath,
  countOf,
  type Documented,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  stringOf,
  textOf,
  type Unchecked,
} from '../base/json.ts';
import type { ToolMeasure } from '../base/quantities.ts';
import { refuse } from '../base/refusal.ts';
import type { VendorCall, PricingFacts } from './adapter.ts';
import type { CreateMessageParams, MessageTool } from './formats/anthropic-messages/types.ts';
import type { GenerateContentRequest } from './formats/gemini/request-types.ts';
import { inCamelCase, inSnakeCase } from './conversation/spelling.ts';
import type {
  ChatExtensions,
  ChatRequest,
  ChatTool,
  LiveSearch,
  SearchOptions,
} from './formats/openai-chat/types.ts';
import type {
  CreateResponse,
  ResponseContainer,
  ResponseTool,
} from './formats/openai-responses/types.ts';

/**
 * The features of a request that have a price of their own, or another model's price. They are
 * found in the client's body before money is reserved. A member that a price depends on may have
 * known values only.
 */
export interface BillableFeatures {
  /** The service tier or speed that the client requests. */
  readonly mode: RequestedTerm | undefined;
  /** The region in which the client wants the model to run. */
  readonly region: RequestedTerm | undefined;
  readonly tools: readonly BillableTool[];
  readonly models: readonly ReferencedModel[];
  /** The vendor may read the whole conversation once more, to compact it. */
  readonly compacts: boolean;
  /**
   * The changes of the body that keep the vendor within these bounds. For adapters of the client's
   * own format.
   */
  readonly bounds: readonly JsonChange[];
}

export interface RequestedTerm {
  readonly param: string;
  /** As the client wrote it. */
  readonly requested: string;
  /** The names by which a price may list it. */
  readonly names: readonly string[];
}

/** A tool that the vendor runs. */
export interface BillableTool {
  readonly measure: ToolMeasure;
  readonly param: string;
  /** The most calls of it. */
  readonly calls: number;
  /** The vendor reports no number of calls: `calls` are charged when it answers. */
  readonly uncounted?: true;
  /**
   * The vendors that read the member: at any other vendor the fee would be charged for nothing.
   * Absent: all.
   */
  readonly knownBy?: readonly string[];
  /** An option of the tool that the vendor's list fee does not cover. */
  readonly beyondList?: { readonly param: string; readonly what: string } | undefined;
}

/** A model that the body names beside the request's own. */
export interface ReferencedModel {
  readonly model: string;
  readonly param: string;
  /** The path of its name in the body. The name may be absent there. */
  readonly path: JsonPath;
  /**
   * `image`: makes images within the answer. `advisor`: the request's model consults it. `instead`:
   * it answers in place of the request's model.
   */
  readonly role: 'image' | 'advisor' | 'instead';
  readonly calls: number;
  /** The most tokens that one call writes, where the request sets a limit. */
  readonly outputTokens: number | undefined;
}

/** The most calls of tools where the request sets no limit. */
const toolCallsMax = 8;
const picturesMax = 4;
const adviceMax = 4;
/**
 * How many sources xAI's live search reads by default (docs.x.ai/docs/guides/live-search, 2026-08).
 */
const sourcesUsual = 20;
/** The default model of the image tool (OpenAPI description, ImageGenTool, 2026-11). */
const imageModelUsual = 'gpt-image-1';

/** A tool that is called once for each request, whose calls the answer does not count. */
const uncountedAt = (...knownBy: readonly string[]) => ({ uncounted: true, knownBy }) as const;
/** How many results OpenRouter's fee of one search covers (docs/features/web-search, 2026-08). */
const resultsUsual = 5;

/**
 * The names of the standard tier, which has the plain price. `auto` is sent as the vendor's name of
 * the standard tier.
 */
const standardTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'on_demand',
  'standard_only',
]);

class FoundFeatures implements BillableFeatures {
  mode: RequestedTerm | undefined;
  region: RequestedTerm | undefined;
  readonly tools: BillableTool[] = [];
  readonly models: ReferencedModel[] = [];
  compacts = false;
  readonly bounds: JsonChange[] = [];

  get isPlain(): boolean {
    return (
      this.mode === undefined &&
      this.region === undefined &&
      this.tools.length === 0 &&
      this.models.length === 0 &&
      !this.compacts
    );
  }

  tool(
    measure: ToolMeasure,
    param: string,
    calls: number,
    more: Omit<BillableTool, 'measure' | 'param' | 'calls'> = {},
  ): void {
    this.tools.push({ measure, param, calls, ...more });
  }
}

/**
 * The features of this request that have a price of their own; undefined: it has none. Throws the
 * Refusal of a feature that is never sold.
 */
export function billableFeatures(
  capability: string,
  body: JsonObject,
  model: string,
): BillableFeatures | undefined {
  const read = readers[capability as StreamedCapability];
  if (read === undefined) return undefined;
  const found = new FoundFeatures();
  readTier(body, found);
  if (capability === 'messages') readRegion(body, found);
  read(body, found, model);
  return found.isPlain ? undefined : found;
}

const readers: Readonly<
  Partial<Record<string, (body: JsonObject, found: FoundFeatures, model: string) => void>>
> = {
  chat: readChat,
  completions: readExtensions,
  responses: readResponses,
  compact: () => {},
  messages: readMessages,
  generate_content: readGenerate,
};

/** The members of requests that choose a tier or a speed, and of answers that report one. */
interface TierMembers {
  readonly service_tier?: string | null;
  readonly speed?: string | null;
}

/** Whether a tier is no name of the standard one. */
const isOtherTier = (tier: unknown): boolean =>
  tier != null && !(typeof tier === 'string' && standardTiers.has(tier));

function readTier(
  { service_tier: tier, speed }: Documented<TierMembers>,
  found: FoundFeatures,
): void {
  if (isOtherTier(tier)) found.mode = termOf('service_tier', tier);
  // The `speed` of speech is a number and no price depends on it; speech does not come here.
  if (speed != null && speed !== 'standard') found.mode = termOf('speed', speed);
}

/**
 * Only Anthropic's format can ask for a region
 * (platform.claude.com/docs/en/build-with-claude/data-residency, 2026-11).
 */
function readRegion(
  { inference_geo: geo }: Documented<CreateMessageParams>,
  found: FoundFeatures,
): void {
  if (geo != null && geo !== 'global') found.region = termOf('inference_geo', geo);
}

/** OpenAI renamed `priority` to `fast` on 2026-07-30 and takes both (openai.com/api-fast-mode). */
const sameModes: Readonly<Record<string, readonly string[]>> = {
  priority: ['priority', 'fast'],
  fast: ['fast', 'priority'],
};

function termOf(param: string, value: unknown): RequestedTerm {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { param, requested: text, names: sameModes[text] ?? [text] };
}

/**
 * The names under which a price may list the tier that an answer reports. An empty list: the
 * standard tier.
 */
export const servedTierNames = (word: string): readonly string[] =>
  standardTiers.has(word) ? [] : (sameModes[word] ?? [word]);

/**
 * Refuses an object in the operator's account at the vendor: the gateway cannot tell which user it
 * belongs to.
 */
function refuseStoredObject(param: string): never {
  refuse('kept_at_the_vendor', { param });
}

function notSold(param: string, what: string, model: string): never {
  refuse('not_sold', { param, what, model, sold: 'It has no price.' });
}

// ---- Chat completions

/** Types of tools that the client itself runs. */
const clientTools: ReadonlySet<string> = new Set(['function', 'custom']);

/** Tools of chat that the vendor runs, by the vendors' names. */
const chatTools: Readonly<Record<string, ToolMeasure>> = {
  web_search: 'web_search',
  web_search_preview: 'web_search',
  'openrouter:web_search': 'web_search',
  browser_search: 'web_search',
  x_search: 'web_search',
  code_interpreter: 'code_session',
  code_execution: 'code_session',
  file_search: 'file_search',
  retrieval: 'file_search',
  mcp: 'mcp_call',
  google_search: 'grounding_query',
  googleSearch: 'grounding_query',
  googleSearchRetrieval: 'grounding_query',
  google_search_retrieval: 'grounding_query',
  codeExecution: 'code_session',
  url_context: 'web_fetch',
  urlContext: 'web_fetch',
};

function readChat(body: Documented<ChatRequest>, found: FoundFeatures, model: string): void {
  const { tools } = body;
  if (tools !== undefined)
    for (const [i, tool] of listOf(tools).entries())
      readChatTool(objectOf(tool) ?? {}, i, found, model);
  readExtensions(body, found, model);
}

function readChatTool(
  tool: Documented<ChatTool>,
  i: number,
  found: FoundFeatures,
  model: string,
): void {
  const type = textOf(tool.type);
  if (type !== undefined && clientTools.has(type)) return;
  const builtIn =
    type === 'builtin_function' ? textOf(objectOf(tool.function)?.name)?.replace(/^\$/, '') : type;
  const name = builtIn ?? Object.keys(tool).find((key) => chatTools[key] !== undefined);
  // Without a type and a known name it is a function, as some vendors write it, or a mistake, which
  // the vendor will refuse.
  if (name === undefined) return;
  const measure = chatTools[name];
  const param = `tools[${i}]${type === undefined ? '' : '.type'}`;
  if (measure === undefined) return notSold(param, `a tool of the type '${name}'`, model);
  // OpenRouter reports the number of calls. Other vendors do not, and one call is charged.
  const options = objectOf(tool.parameters);
  if (name.startsWith('openrouter:'))
    found.tool(measure, param, countOf(options?.max_uses) ?? toolCallsMax, {
      knownBy: ['openrouter'],
      ...manyResults(options, `tools[${i}].parameters`),
    });
  else found.tool(measure, param, 1, uncountedAt());
}

function manyResults(
  options: Documented<SearchOptions> | undefined,
  param: string,
): Pick<BillableTool, 'beyondList'> {
  const most = options?.max_results;
  if (most == null || (countOf(most) ?? Infinity) <= resultsUsual) return {};
  return {
    beyondList: {
      param: `${param}.max_results`,
      what: `more than ${resultsUsual} results of a search`,
    },
  };
}

/** Members of some vendors' chat that OpenAI's does not have, and OpenAI's own search. */
function readExtensions(
  body: Documented<ChatExtensions>,
  found: FoundFeatures,
  model: string,
): void {
  // A search model searches once for each request, and reports no number.
  if (isObject(body.web_search_options))
    found.tool('web_search', 'web_search_options', 1, uncountedAt('openai', 'openrouter'));
  // Perplexity's fee for a request depends on it. `low` is the default, and in the plain price
  // (docs.perplexity.ai/guides/pricing, 2026-08).
  const size = body.search_context_size;
  if (size != null && size !== 'low')
    found.tool('web_search', 'search_context_size', 1, uncountedAt('perplexity'));
  readLiveSearch(body, found);
  // Qwen (help.aliyun.com/zh/model-studio/web-search, 2026-08).
  if (body.enable_search === true)
    found.tool('web_search', 'enable_search', 1, uncountedAt('qwen'));
  const venice = objectOf(body.venice_parameters)?.enable_web_search;
  if (venice != null && venice !== 'off' && venice !== false)
    found.tool('web_search', 'venice_parameters.enable_web_search', 1, uncountedAt());
  // OpenRouter (openrouter.ai/docs/features/web-search, 2026-08): its plugins have fees, and
  // `models` are its fallbacks.
  for (const [i, plugin] of listOf(body.plugins).entries()) {
    const id = textOf(objectOf(plugin)?.id) ?? '';
    if (id === 'web')
      found.tool('web_search', `plugins[${i}]`, 1, {
        ...uncountedAt('openrouter'),
        ...manyResults(objectOf(plugin), `plugins[${i}]`),
      });
    else if (id !== 'response-healing') notSold(`plugins[${i}].id`, `the plugin '${id}'`, model);
  }
  // A preset of OpenRouter is a model, a prompt and hosts that lie in the operator's account
  // (openrouter.ai/docs/features/presets, 2026-08).
  if (body.preset != null) refuseStoredObject('preset');
  for (const member of ['models', 'fallbacks'] as const) {
    const others = listOf(body[member]).map((one) => textOf(one) ?? textOf(objectOf(one)?.model));
    if (others.some((one) => one !== model))
      notSold(member, 'an answer of another model than the one in `model`', model);
  }
  // Systems of several models that work together (console.groq.com/docs/compound, 2026-08).
  if (objectOf(body.compound_custom)?.models !== undefined)
    notSold('compound_custom.models', 'a choice of models', model);
}

/**
 * xAI, in chat and responses (docs.x.ai/docs/guides/live-search and …/api-reference, 2026-08):
 * `usage.num_sources_used` reports the number. The fee of a source is not that of a search: no list
 * has it.
 */
function readLiveSearch(
  body: Documented<{ readonly search_parameters?: LiveSearch }>,
  found: FoundFeatures,
): void {
  const search = objectOf(body.search_parameters);
  if (search && search.mode !== 'off')
    found.tool(
      'web_search',
      'search_parameters',
      countOf(search.max_search_results) ?? sourcesUsual,
      { knownBy: [] },
    );
}

// ---- Responses

/**
 * Tools that the client runs, and those that only hold or find other tools (OpenAPI description,
 * 2026-11).
 */
const responsesClientTools: ReadonlySet<string> = new Set([
  ...clientTools,
  'apply_patch',
  'local_shell',
  'computer',
  'computer_use',
  'computer_use_preview',
  'tool_search',
]);

const responsesTools: readonly (readonly [RegExp, ToolMeasure])[] = [
  [/^(web_search|web_search_preview)(_\d{4}_\d{2}_\d{2})?$/, 'web_search'],
  [/^x_search$/, 'web_search'],
  [/^(file_search|collections_search)$/, 'file_search'],
  [/^(code_interpreter|code_execution|programmatic_tool_calling|shell)$/, 'code_session'],
  [/^mcp$/, 'mcp_call'],
];

function readResponses(
  body: Documented<CreateResponse>,
  found: FoundFeatures,
  model: string,
): void {
  if (body.prompt != null) refuseStoredObject('prompt');
  readLiveSearch(body, found);
  const limit = countOf(body.max_tool_calls);
  readResponsesTools(body.tools, ['tools'], limit, found, model);
  for (const [i, item] of listOf(body.input).entries())
    if (isObject(item) && item.tools !== undefined)
      readResponsesTools(item.tools, ['input', i, 'tools'], limit, found, model);
  const runs = found.tools.length > 0 || found.models.length > 0;
  const most = found.models.length > 0 ? picturesMax : toolCallsMax;
  if (runs && limit === undefined)
    found.bounds.push({ path: ['max_tool_calls'], json: String(most) });
}

function readResponsesTools(
  tools: Unchecked<readonly ResponseTool[]>,
  path: JsonPath,
  limit: number | undefined,
  found: FoundFeatures,
  model: string,
): void {
  if (tools === undefined) return;
  for (const [i, value] of listOf(tools).entries()) {
    const tool = objectOf(value) ?? {};
    const type = textOf(tool.type) ?? 'function';
    if (responsesClientTools.has(type)) continue;
    const at = [...path, i];
    const param = paramOf(at);
    if (type === 'namespace') readResponsesTools(tool.tools, [...at, 'tools'], limit, found, model);
    else if (type === 'image_generation') readImageTool(tool, at, limit, found);
    else if (!(type === 'shell' && objectOf(tool.environment)?.type === 'local')) {
      const measure = responsesTools.find(([name]) => name.test(type))?.[1];
      if (measure === undefined) notSold(`${param}.type`, `a tool of the type '${type}'`, model);
      const member = tool.container === undefined ? 'environment' : 'container';
      refuseContainer(tool[member], param);
      found.tool(
        measure,
        `${param}.type`,
        limit ?? toolCallsMax,
        largeContainer(objectOf(tool[member]), `${param}.${member}`),
      );
    }
  }
}

/**
 * Refuses a container that exists already, and a new one with files of the operator's account at
 * the vendor.
 */
function refuseContainer(container: Unchecked<string | ResponseContainer>, param: string): void {
  if (typeof container === 'string') refuseStoredObject(`${param}.container`);
  const { container_id: id, file_ids: files, skills } = objectOf(container) ?? {};
  if (id != null || listOf(files).length > 0 || listOf(skills).length > 0)
    refuseStoredObject(`${param}.container`);
}

/** Fees are for 1 GB, the default (developers.openai.com …/tools-code-interpreter, 2026-08). */
function largeContainer(
  container: Documented<ResponseContainer> | undefined,
  param: string,
): Pick<BillableTool, 'beyondList'> {
  const memory = container?.memory_limit;
  if (memory == null || memory === '1g') return {};
  return {
    beyondList: {
      param: `${param}.memory_limit`,
      what: `a container of the size ${JSON.stringify(memory)}`,
    },
  };
}

function readImageTool(
  tool: Documented<ResponseTool>,
  path: JsonPath,
  limit: number | undefined,
  found: FoundFeatures,
): void {
  if (objectOf(tool.input_image_mask)?.file_id != null)
    refuseStoredObject(`${paramOf(path)}.input_image_mask.file_id`);
  const model = textOf(tool.model) ?? imageModelUsual;
  const calls = Math.min(limit ?? picturesMax, picturesMax);
  found.models.push({
    model,
    param: `${paramOf(path)}.model`,
    path: [...path, 'model'],
    role: 'image',
    calls,
    outputTokens: undefined,
  });
}

// ---- Anthropic's messages

/**
 * Tools that clients run (platform.claude.com/docs/en/agents-and-tools/tool-use/overview, 2026-11);
 * searching the request's own tools has no fee.
 */
const messagesClientTools =
  /^(bash|text_editor|computer|memory|tool_search_tool_\w+?)_\d{8}$|^tool_search_tool_(bm25|regex)$/;

const messagesTools: readonly (readonly [RegExp, ToolMeasure])[] = [
  [/^web_search_\d{8}$/, 'web_search'],
  [/^web_fetch_\d{8}$/, 'web_fetch'],
  [/^code_execution_\d{8}$/, 'code_session'],
  [/^mcp_toolset$/, 'mcp_call'],
];
/** The measures of tools whose calls a request can limit with `max_uses`. */
const limitedByUses: ReadonlySet<string> = new Set(['web_search', 'web_fetch']);

function readMessages(
  body: Documented<CreateMessageParams>,
  found: FoundFeatures,
  model: string,
): void {
  const { tools, fallbacks, container } = body;
  if (tools !== undefined)
    for (const [i, tool] of listOf(tools).entries())
      readMessagesTool(objectOf(tool) ?? {}, i, found, model);
  if (
    listOf(body.mcp_servers).length > 0 &&
    !found.tools.some(({ measure }) => measure === 'mcp_call')
  )
    found.tool('mcp_call', 'mcp_servers', toolCallsMax);
  if (typeof container === 'string' || objectOf(container)?.id != null)
    refuseStoredObject('container');
  for (const skill of listOf(objectOf(container)?.skills))
    if (objectOf(skill)?.type !== 'anthropic') refuseStoredObject('container.skills');
  const edits = objectsOf(objectOf(body.context_management)?.edits);
  found.compacts = edits.some(({ type }) => stringOf(type).startsWith('compact'));
  // These models answer in this model's place when it refuses
  // (platform.claude.com/docs/en/build-with-claude/refusals-and-fallback, 2026-11).
  for (const [i, one] of listOf(fallbacks).entries()) {
    const param = `fallbacks[${i}].model`;
    const instead = textOf(objectOf(one)?.model);
    if (instead === undefined) refuse('missing_parameter', { param });
    found.models.push({
      model: instead,
      param,
      path: ['fallbacks', i, 'model'],
      role: 'instead',
      calls: 1,
      outputTokens: undefined,
    });
  }
}

function readMessagesTool(
  tool: Documented<MessageTool>,
  i: number,
  found: FoundFeatures,
  model: string,
): void {
  const type = textOf(tool.type);
  if (type === undefined || type === 'custom' || messagesClientTools.test(type)) return;
  const param = `tools[${i}]`;
  const uses = countOf(tool.max_uses);
  if (/^advisor_\d{8}$/.test(type)) {
    const advisor = textOf(tool.model);
    if (advisor === undefined) refuse('missing_parameter', { param: `${param}.model` });
    const path: JsonPath = ['tools', i, 'model'];
    const outputTokens = countOf(tool.max_tokens);
    found.models.push({
      model: advisor,
      param: `${param}.model`,
      path,
      role: 'advisor',
      calls: uses ?? adviceMax,
      outputTokens,
    });
    if (uses === undefined)
      found.bounds.push({ path: ['tools', i, 'max_uses'], json: String(adviceMax) });
    return;
  }
  const measure = messagesTools.find(([name]) => name.test(type))?.[1];
  if (measure === undefined) notSold(`${param}.type`, `a tool of the type '${type}'`, model);
  found.tool(measure, `${param}.type`, uses ?? toolCallsMax);
  if (uses === undefined && limitedByUses.has(measure))
    found.bounds.push({ path: ['tools', i, 'max_uses'], json: String(toolCallsMax) });
}

// ---- Google's generateContent

/** The members of a tool that hold functions, or that the client itself runs. */
const generateClientTools: ReadonlySet<string> = new Set(['functionDeclarations', 'computerUse']);
/** Tools over documents that lie in the operator's account. */
const generateStoredTools: ReadonlySet<string> = new Set(['fileSearch', 'retrieval']);

/** Tools that the vendor runs (ai.google.dev/api/caching#Tool, 2026-11). */
const generateTools: Readonly<Record<string, ToolMeasure>> = {
  googleSearch: 'grounding_query',
  googleSearchRetrieval: 'grounding_query',
  codeExecution: 'code_session',
  urlContext: 'web_fetch',
};

const generateToolNames: ReadonlySet<string> = new Set(
  Object.keys(generateTools).flatMap((name) => [name, inSnakeCase(name)]),
);

/** Whether a tool of `generateContent` is one that the vendor runs. */
export function isGenerateVendorTool(tool: JsonObject): boolean {
  for (const name in tool) if (generateToolNames.has(name) && tool[name] !== null) return true;
  return false;
}

const generateVendors: readonly string[] = ['gemini', 'vertex'];

function readGenerate(body: JsonObject, found: FoundFeatures, model: string): void {
  const request: Documented<GenerateContentRequest> = inCamelCase(body);
  if (request.cachedContent != null) refuseStoredObject('cachedContent');
  const single = !Array.isArray(request.contents);
  for (const [i, turn] of (single ? [request.contents] : listOf(request.contents)).entries())
    refuseStoredFiles(objectOf(turn)?.['parts'], `${single ? 'contents' : `contents[${i}]`}.parts`);
  const tier = textOf(request.serviceTier)?.toLowerCase() ?? request.serviceTier;
  if (isOtherTier(tier)) found.mode = termOf('serviceTier', tier);
  const config: JsonObject = objectOf(request.generationConfig) ?? {};
  for (const choice of ['routingConfig', 'modelSelectionConfig'])
    if (config[choice] != null) notSold(`generationConfig.${choice}`, 'a choice of models', model);
  for (const [i, tool] of listOf(request.tools).entries())
    for (const [name, value] of Object.entries(objectOf(tool) ?? {}))
      if (value !== null && !generateClientTools.has(name))
        readGenerateTool(name, `tools[${i}].${name}`, found, model);
}

/** Where the vendor keeps files: its own store, and buckets that the operator's account reads. */
const fileStore = /^(?!https?:)|^https?:\/\/generativelanguage\.googleapis\.com\//i;

function refuseStoredFiles(parts: unknown, param: string): void {
  const single = !Array.isArray(parts);
  for (const [i, value] of (single ? [parts] : listOf(parts)).entries()) {
    const part = objectOf(value);
    const file = objectOf(part?.['fileData']);
    const response = objectOf(part?.['functionResponse']);
    if (file === undefined && response === undefined) continue;
    const at = single ? param : `${param}[${i}]`;
    const uri = textOf(file?.['fileUri']);
    if (uri !== undefined && fileStore.test(uri)) refuseStoredObject(`${at}.fileData.fileUri`);
    if (response?.['parts'] != null)
      refuseStoredFiles(response['parts'], `${at}.functionResponse.parts`);
  }
}

function readGenerateTool(name: string, param: string, found: FoundFeatures, model: string): void {
  if (generateStoredTools.has(name)) refuseStoredObject(param);
  const measure = generateTools[name];
  if (measure === undefined) return notSold(param, `the tool '${name}'`, model);
  // The answer tells its searches; runs of code and pages that were read are not counted.
  if (measure === 'grounding_query')
    found.tool(measure, param, toolCallsMax, { knownBy: generateVendors });
  else found.tool(measure, param, 1, uncountedAt(...generateVendors));
}

/** `tools[0].model` */
const paramOf = (path: JsonPath): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
    '',
  );

/** The changes that replace the names of other models in the body by the vendor's names. */
export const withVendorModelNames = (
  models: readonly ReferencedModel[],
  upstream: (model: string) => string,
): readonly JsonChange[] =>
  models.map(({ model, path }) => ({ path, json: jsonText(upstream(model)) }));

/**
 * Prices decide which tiers are sold, before an adapter is called (billable-features.ts). Adapters
 * do two things. They send `auto` as the name of the standard tier: with `auto`, the settings of
 * the operator's account at the vendor may choose a dearer tier (OpenAPI description, ServiceTier,
 * 2026-11). And an adapter whose endpoint offers no tiers refuses the request, so that the client
 * does not pay for the tier.
 */
export function serviceTierChanges(
  { body }: Pick<VendorCall<TierMembers>, 'body'>,
  standard = 'default',
): readonly JsonChange[] {
  return body.service_tier === 'auto'
    ? [{ path: ['service_tier'], json: JSON.stringify(standard) }]
    : noChanges;
}

const noChanges: readonly JsonChange[] = [];

/**
 * Throws the Refusal of a request for a tier or speed that this vendor's endpoint does not offer.
 */
export function refuseServiceTier({
  asksForTier,
  body,
}: Pick<VendorCall<TierMembers>, 'asksForTier' | 'body'>): void {
  if (asksForTier !== true) return;
  const param = body.speed != null && body.speed !== 'standard' ? 'speed' : 'service_tier';
  refuse('invalid_value', { param, why: 'this model cannot be asked for it over this endpoint.' });
}

/**
 * The tier that served an answer in OpenAI's format, if the client requested another than the
 * standard one.
 */
export function servedTier(
  { asksForTier }: Pick<VendorCall, 'asksForTier'>,
  answer: Documented<TierMembers>,
): { readonly told?: PricingFacts } {
  const served = asksForTier === true ? textOf(answer.service_tier) : undefined;
  return served === undefined ? noTold : { told: { servedTier: served } };
}

const noTold = {};
