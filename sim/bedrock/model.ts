/** The features of a family of models behind Converse. */
export interface ConverseModel {
  readonly family: 'claude' | 'nova' | 'nova 2' | 'other';
  readonly tools: boolean;
  /** Values of `toolChoice` besides `auto`. */
  readonly choices: readonly ('any' | 'tool')[];
  readonly images: boolean;
  /** Where `cachePoint` may stand: nowhere, in messages and system, or also among tools. */
  readonly caches: 'nowhere' | 'messages' | 'everywhere';
  readonly structured: boolean;
  /** The conversation may begin with a message of the assistant. */
  readonly assistantFirst: boolean;
  /** The conversation may end with a message of the assistant. */
  readonly prefill: boolean;
  /** Accepts reasoning blocks of earlier turns. */
  readonly remembersThoughts: boolean;
  /** Turns of calls and turns of results hold no other blocks. */
  readonly apart: boolean;
  readonly outputMax: number;
}

const plain: ConverseModel = {
  family: 'other',
  tools: true,
  choices: [],
  images: false,
  caches: 'nowhere',
  structured: false,
  assistantFirst: false,
  prefill: false,
  remembersThoughts: false,
  apart: false,
  outputMax: Infinity,
};
const nova = { choices: ['any', 'tool'], images: true, caches: 'messages', prefill: true } as const;
const open = { structured: true, remembersThoughts: true };

/**
 * docs.aws.amazon.com/bedrock/latest/userguide:
 * conversation-inference-supported-models-features.html, prompt-caching.html,
 * structured-output.html and APIReference/API_runtime_ToolChoice.html, 2026-08. The first row that
 * matches holds.
 */
const rows: readonly (readonly [RegExp, Partial<ConverseModel>])[] = [
  [
    /claude/,
    {
      family: 'claude',
      choices: ['any', 'tool'],
      images: true,
      caches: 'everywhere',
      prefill: true,
      remembersThoughts: true,
    },
  ],
  [/nova-2/, { ...nova, family: 'nova 2', remembersThoughts: true, outputMax: 65_536 }],
  [/nova-micro/, { ...nova, family: 'nova', images: false, outputMax: 10_000 }],
  [/nova/, { ...nova, family: 'nova', outputMax: 10_000 }],
  [/titan/, { tools: false, outputMax: 8192 }],
  [/deepseek\.r1/, { tools: false, outputMax: 32_768 }],
  [/llama4|llama3-2-(?:11|90)b/, { images: true, apart: true, outputMax: 8192 }],
  [/llama/, { apart: true, outputMax: 8192 }],
  [
    /pixtral|mistral-large-3|ministral|magistral/,
    { choices: ['any'], images: true, structured: true },
  ],
  [/mistral/, { choices: ['any'] }],
  [/gpt-oss|deepseek|minimax|kimi|nemotron/, open],
  [/qwen3-vl|gemma-3/, { ...open, images: true }],
  [/qwen/, open],
];

/** Scenarios without a model behave like Claude. */
export function converseModel(id: string): ConverseModel {
  const row = rows.find(([named]) => named.test(id.startsWith('sim-') ? 'claude' : id));
  const structured = /claude-(?:sonnet|opus|haiku)-(?:4-[5-9]|[5-9])|claude-(?:fable|mythos)/.test(
    id,
  );
  const assistantFirst = !/claude-(?:3|instant|v\d)/.test(id);
  const own = row?.[1].family === 'claude' ? { structured, assistantFirst } : {};
  return { ...plain, ...row?.[1], ...own };
}

/**
 * Models that only inference profiles offer (…/inference-profiles-support.html, 2026-08; recorded).
 */
export function profileComplaint(id: string): string | undefined {
  if (!profiled.test(id)) return undefined;
  return `Invocation of model ID ${id} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.`;
}

const profiled =
  /^(?:deepseek\.r1|anthropic\.claude-(?:3-7|sonnet-[4-9]|opus-[4-9]|haiku-[4-9]|fable|mythos)|amazon\.nova-(?:2|premier)|meta\.llama4)/;
