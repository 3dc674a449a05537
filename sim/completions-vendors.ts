/** How a vendor's `/completions` differs from OpenAI's. */
export interface Legacy {
  /** Its path under the base URL. */
  readonly path?: string;
  /** The models that complete text; the vendor refuses others. Absent: all. */
  readonly models?: RegExp;
  /** `prompt` must be a string. */
  readonly onePrompt?: true;
  /** Members that it knows. Absent: it ignores unknown ones. */
  readonly only?: readonly string[];
  /** Members that it refuses. */
  readonly none?: readonly string[];
  readonly logprobsMax?: number;
  /** The response has the shape of chat. */
  readonly asChat?: true;
  /** `object` of its responses and chunks. */
  readonly objects?: { readonly whole: string; readonly chunk: string };
  /** Its finish reason where it gives none. */
  readonly stop?: string;
}

/** CreateCompletionRequest of the OpenAPI description, 2026-08-21. */
const openAiMembers =
  'best_of echo frequency_penalty logit_bias logprobs max_tokens model n presence_penalty prompt seed stop stream stream_options suffix temperature top_p user'.split(
    ' ',
  );

/** docs.mistral.ai/api/endpoint/fim, 2026-08. */
const mistralMembers =
  'max_tokens metadata min_tokens model prompt random_seed stop stream suffix temperature top_p'.split(
    ' ',
  );

const byVendor: Readonly<Record<string, Legacy>> = {
  openai: { models: /-instruct|^babbage-|^davinci-/, only: openAiMembers, logprobsMax: 5 },
  azure: { models: /-instruct|^babbage-|^davinci-/, only: openAiMembers, logprobsMax: 5 },
  // api-docs.deepseek.com/api/create-completion, 2026-08
  deepseek: {
    models: /^deepseek-(?:chat|coder|v4-pro)|^sim-/,
    onePrompt: true,
    none: ['n', 'best_of'],
    logprobsMax: 20,
  },
  mistral: {
    path: '/fim/completions',
    models: /^codestral/,
    onePrompt: true,
    only: mistralMembers,
    asChat: true,
  },
  // docs.together.ai/reference/completions, 2026-08; the names as recorded
  together: {
    onePrompt: true,
    objects: { whole: 'text.completion', chunk: 'completion.chunk' },
    stop: 'eos',
  },
  fireworks: {},
  openrouter: { onePrompt: true },
  siliconflow: { onePrompt: true },
  // github.com/ollama/ollama docs/openai.md, 2026-08
  ollama: { onePrompt: true },
  vllm: {},
  llamacpp: {},
};

export const legacyOf = (vendor: string): Legacy | undefined => byVendor[vendor];
